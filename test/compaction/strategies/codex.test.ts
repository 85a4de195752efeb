import { expect, test } from "vitest";
import { codex } from "../../../src/compaction/strategies/codex.js";
import {
  agents,
  assistant,
  call,
  environment,
  ghost,
  output,
  pinned,
  summary,
  thought,
  user,
  words,
} from "../items.js";
import { inputOf } from "../strategy-input.js";

const label = "Summary of earlier conversation:\n\n";
const step = [thought("hm"), call("a"), output("a", "big")];

test("context, pins and requests stay, followed by the summary and the snapshots", () => {
  const history = [agents("kind"), environment("/"), user("one"), ghost("1"), ...step, pinned("p"), assistant("done")];
  const plan = codex.plan(inputOf([...history, user("two"), assistant("yes")]));
  expect(plan).toMatchObject({ cut: 11, needsSummary: true, previousSummary: undefined });
  expect(plan.toSummarize).toEqual([user("one"), ...step, assistant("done"), user("two"), assistant("yes")]);
  expect(plan.build("all is well")).toEqual([
    agents("kind"),
    environment("/"),
    pinned("p"),
    user("one"),
    user("two"),
    summary(`${label}all is well`),
    ghost("1"),
  ]);
});

test("an unanswered request comes after the summary", () => {
  const history = [user("one"), assistant("done"), user("two"), environment("/"), user("three")];
  const plan = codex.plan(inputOf(history));
  expect(plan.cut).toBe(2);
  expect(plan.toSummarize).toEqual([user("one"), assistant("done")]);
  expect(plan.build("s")).toEqual([user("one"), summary(`${label}s`), user("two"), environment("/"), user("three")]);
});

test("a request whose tools have run is summarized", () => {
  const plan = codex.plan(inputOf([user("one"), ...step]));
  expect(plan.cut).toBe(4);
  expect(plan.build("s")).toEqual([user("one"), summary(`${label}s`)]);
});

test("a call with a pending output stays with its step", () => {
  const plan = codex.plan(inputOf([user("one"), ...step, thought("so"), call("b")]));
  expect(plan.build("s")).toEqual([user("one"), summary(`${label}s`), thought("so"), call("b")]);
});

test("an earlier summary is passed on as text, and only newer items are summarized", () => {
  const earlier = summary(`${label}Goal: x\n\n## Files Read\n- a.ts\n- b.ts\n\n## Files Modified\n- c.ts`);
  const plan = codex.plan(inputOf([agents("kind"), user("one"), earlier, user("two"), ...step]));
  expect(plan.previousSummary).toBe("Goal: x");
  expect(plan.toSummarize).toEqual([user("two"), ...step]);
  expect(plan.build("s")).toEqual([agents("kind"), user("one"), user("two"), summary(`${label}s`)]);
});

test.each(["[Session Summary]\nx", "Previous conversation summary:\nx", "Previous requests:\nx", "x"])(
  "the label of an earlier summary is removed: %j",
  (text) => {
    expect(codex.plan(inputOf([summary(text), user("one")])).previousSummary).toBe("x");
  },
);

test.each([
  ["(summary unavailable)", undefined],
  ["(no summary available)\n\n## Files Read\n- a", undefined],
  ["(summary unavailable)\n\n## Goal\nx", "## Goal\nx"],
])("a placeholder does not count as an earlier summary, but facts after it do: %j", (text, earlier) => {
  expect(codex.plan(inputOf([summary(label + text), user("one")])).previousSummary).toBe(earlier);
});

test("the newest requests stay within the budget, and the one that does not fit is truncated", () => {
  const history = [words(30_000, "a"), words(15_000, "b"), words(10_000, "c")].flatMap((text) => [
    user(text),
    assistant("ok"),
  ]);
  const built = codex.plan(inputOf(history)).build("s");
  expect(built).toHaveLength(3);
  expect(built[0]).toMatchObject({
    content: [{ text: expect.stringMatching(/^b+\n\n\[\.\.\. \d+ characters truncated \.\.\.\]\n\nb+$/) }],
  });
  expect(built[1]).toEqual(user(words(10_000, "c")));
});

test("requests after the cut use the budget first", () => {
  const history = [user(words(100, "a")), assistant("ok"), user(words(100, "b")), assistant("ok")];
  const kept = (userMessageTokens: number) => codex.plan(inputOf(history, { cut: 2, userMessageTokens })).build("s");
  expect(kept(200)).toEqual([history[0], summary(`${label}s`), history[2], history[3]]);
  expect(kept(120)).toEqual([summary(`${label}s`), history[2], history[3]]);
});

test("an image too large for the budget is removed, and its message's text stays", () => {
  const image = { type: "input_image" as const, image_url: `data:${words(30_000)}` };
  const shown = { ...user("look"), content: [...user("look").content, image] };
  expect(codex.plan(inputOf([user("one"), shown, assistant("ok")])).build("s")).toEqual([
    user("one"),
    { ...shown, content: [...user("look").content, { type: "input_text", text: "[image]" }] },
    summary(`${label}s`),
  ]);
});

test("preserveToolResults keeps all or no results", () => {
  const history = [user("one"), ...step, assistant("done"), user("two"), call("b"), output("b"), assistant("so")];
  const all = codex.plan(inputOf(history, { preserveToolResults: "all" }));
  expect(all.build("s")).toEqual([user("one"), ...step, user("two"), call("b"), output("b"), summary(`${label}s`)]);
  const none = codex.plan(inputOf(history, { preserveToolResults: "none", cut: 5 }));
  expect(none.build("s")).toEqual([user("one"), summary(`${label}s`), user("two"), assistant("so")]);
  expect(none.toSummarize).toEqual([user("one"), ...step, assistant("done"), call("b"), output("b")]);
});

test("items covered by an earlier summary are not kept, whatever cut is given", () => {
  const plan = codex.plan(inputOf([user("one"), summary("s"), user("two"), assistant("ok")], { cut: 0 }));
  expect(plan.cut).toBe(2);
});
