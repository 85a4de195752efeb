import { expect, test } from "vitest";
import { selectRecentMessages } from "../../../src/compaction/cut/cut-item.js";
import { words } from "../items.js";

test("the newest messages are kept in order", () => {
  expect(selectRecentMessages(["a", "b", "c"])).toEqual(["a", "b", "c"]);
  expect(selectRecentMessages(["aaaa", "bbbb", "cccc"], 2)).toEqual(["bbbb", "cccc"]);
  expect(selectRecentMessages([])).toEqual([]);
});

test("the message that does not fit is truncated in the middle, and older ones are dropped", () => {
  const [cut, whole, ...rest] = selectRecentMessages([words(1, "a"), words(15_000, "b"), words(10_000, "c")]);
  expect(rest).toEqual([]);
  expect(whole).toBe(words(10_000, "c"));
  expect(cut).toMatch(/^b+\n\n\[\.\.\. \d+ characters truncated \.\.\.\]\n\nb+$/);
  expect(cut?.length).toBeGreaterThan(39_900);
  expect(cut?.length).toBeLessThanOrEqual(40_000);
});

test("the caller's token counter is used", () => {
  expect(selectRecentMessages(["one two", "three", "four five"], 3, (text) => text.split(" ").length)).toEqual([
    "three",
    "four five",
  ]);
});
