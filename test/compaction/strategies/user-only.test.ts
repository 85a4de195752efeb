import { expect, test } from "vitest";
import { COMPACT_SYSTEM_PROMPT, userOnly } from "../../../src/compaction/strategies/user-only.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { agents, assistant, call, developer, environment, ghost, output, summary, user, words } from "../items.js";
import { inputOf } from "../strategy-input.js";

const prompt: ResponseItem = { ...developer(COMPACT_SYSTEM_PROMPT), summary: true };
const step = [call("a"), output("a")];

test("only requests stay, in one message before the new request", () => {
  const history = [agents("kind"), user("one"), ghost("1"), ...step, assistant("done"), user("two"), assistant("ok")];
  const plan = userOnly.plan(inputOf([...history, user("three")]));
  expect(plan.needsSummary).toBe(false);
  expect(plan.build("")).toEqual([
    agents("kind"),
    prompt,
    summary("Previous requests:\none\ntwo"),
    ghost("1"),
    user("three"),
  ]);
});

test("earlier requests and summaries are carried over", () => {
  const again = [prompt, summary("Previous requests:\none\ntwo"), user("three"), assistant("ok")];
  expect(userOnly.plan(inputOf(again)).build("ignored")).toEqual([
    prompt,
    summary("Previous requests:\none\ntwo\nthree"),
  ]);
  const other = [user("one"), summary("[Session Summary]\nAll is well."), user("two"), assistant("ok")];
  expect(userOnly.plan(inputOf(other)).build("")).toEqual([
    prompt,
    summary("Previous requests:\nAll is well.\none\ntwo"),
  ]);
});

test("the steps of a running turn stay with its request", () => {
  const history = [user("one"), assistant("ok"), user("two"), ...step];
  expect(userOnly.plan(inputOf(history)).build("")).toEqual([
    prompt,
    summary("Previous requests:\none"),
    user("two"),
    ...step,
  ]);
  const long = [user("one"), user("two"), call("b"), output("b", words(200)), ...step];
  expect(userOnly.plan(inputOf(long, { keepRecentTokens: 100 })).build("")).toEqual([
    prompt,
    summary("Previous requests:\none"),
    user("two"),
    ...step,
  ]);
});

test("a running turn keeps its request without tool results, and an output without a call is not a running turn", () => {
  const none = { preserveToolResults: "none" } as const;
  const history = [user("one"), assistant("ok"), user("two"), assistant("I look"), environment("/"), ...step];
  expect(userOnly.plan(inputOf(history, none)).build("")).toEqual([
    environment("/"),
    prompt,
    summary("Previous requests:\none"),
    user("two"),
  ]);
  expect(userOnly.plan(inputOf([user("one"), assistant("ok"), output("lost")])).build("")).toEqual([
    prompt,
    summary("Previous requests:\none"),
  ]);
});

test("requests are limited by userMessageTokens", () => {
  const [, item] = userOnly.plan(inputOf([user(words(30_000)), assistant("ok")])).build("");
  expect(item).toMatchObject({
    content: [{ text: expect.stringMatching(/^Previous requests:\nx+\n\n\[\.\.\. \d+ ch/) }],
  });
});
