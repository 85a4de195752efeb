import { expect, test } from "vitest";
import { fitted } from "../../src/cli/format.js";

test.each([
  ["short", 10, "short"],
  ["exactly ten", 11, "exactly ten"],
  ["a little longer", 10, "a little…"],
  ["日本語のテキスト", 8, "日本語…"],
  ["\u{1f30a}\u{1f30a}\u{1f30a}", 5, "\u{1f30a}…"],
  ["anything", 1, ""],
  ["anything", -3, ""],
  ["", 5, ""],
])("%j fitted to %i cells is %j", (text, cells, shown) => {
  expect(fitted(text, cells)).toBe(shown);
});
