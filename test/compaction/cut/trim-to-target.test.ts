import { expect, test } from "vitest";
import { trimToTarget } from "../../../src/compaction/cut/trim-to-target.js";
import {
  agents,
  assistant,
  call,
  count,
  ghost,
  output,
  pinned,
  summary,
  thought,
  total,
  user,
  words,
} from "../items.js";

test("a history that fits is unchanged", () => {
  const items = [user("one"), assistant("ok")];
  expect(trimToTarget(items, total(items), count)).toEqual(items);
});

test("the oldest items are removed first, a step with its outputs; required items stay", () => {
  const fixed = [agents("kind"), pinned("p"), summary("s"), ghost("1")];
  const old = [
    user(words(10)),
    thought(words(10)),
    call("a"),
    call("b"),
    output("b", words(50)),
    output("a", words(50)),
  ];
  const rest = [assistant("ok"), user("last"), call("c"), output("c", "fine"), assistant("end")];
  const items = [...fixed, ...old, ...rest];
  expect(trimToTarget(items, total(items) - 1, count)).toEqual([...fixed, ...old.slice(1), ...rest]);
  expect(trimToTarget(items, total(items) - 11, count)).toEqual([...fixed, ...rest]);
  const least = total([...fixed, user("last"), assistant("end")]);
  expect(trimToTarget(items, least, count)).toEqual([...fixed, user("last"), assistant("end")]);
});

test("if only required items are left, the longest texts are truncated, those of the user last", () => {
  const items = [summary(words(100)), pinned(words(500)), user(words(500)), call("a"), output("a", words(5_000, "y"))];
  const trimmed = trimToTarget(items, 2_000, count);
  expect(total(trimmed)).toBeLessThanOrEqual(2_000);
  expect(total(trimmed)).toBeGreaterThan(1_990);
  expect(trimmed.slice(0, 4)).toEqual(items.slice(0, 4));
  const least = trimToTarget(items, 0, count);
  expect(least).toHaveLength(3);
  expect(least.every((item) => count(item) <= 64)).toBe(true);
  expect(trimToTarget(least, 0, count)).toEqual(least);
});

test("a step whose arguments alone exceed the target is removed", () => {
  const items = [user("go"), call("a", "write_file", { content: words(1_000) }), output("a")];
  expect(trimToTarget(items, 500, count)).toEqual([user("go")]);
});

test("a call with a pending output stays", () => {
  const items = [user("go"), assistant("ok"), call("a", "write_file", { content: words(1_000) }), ghost("1")];
  expect(trimToTarget(items, 500, count)).toEqual(items);
});

test("unanswered requests are never removed", () => {
  const items = [user(words(300)), assistant("ok"), user(words(300)), user(words(300))];
  const trimmed = trimToTarget(items, 400, count);
  expect(trimmed).toHaveLength(2);
  expect(total(trimmed)).toBeLessThanOrEqual(400);
});

test("images of a message are removed before its text", () => {
  const image = { type: "input_image" as const, image_url: words(1_000) };
  const shown = {
    ...user("look"),
    content: [...user("look").content, image, { type: "input_text" as const, text: words(100) }],
  };
  expect(trimToTarget([shown], 110, count)).toEqual([
    { ...shown, content: [shown.content[0], { type: "input_text", text: "[image]" }, shown.content[2]] },
  ]);
});
