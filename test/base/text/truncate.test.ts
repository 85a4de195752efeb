import { expect, test } from "vitest";
import { shortened } from "../../../src/base/text/truncate.js";

test.each([
  ["", ""],
  ["abc", "abc"],
  ["abcd", "abc…"],
  ["a\u{1f30a}", "a\u{1f30a}"],
  ["a\u{1f30a}d", "a\u{1f30a}…"],
  ["ab\u{1f30a}", "ab…"],
])("%j shortened to 3 characters is %j", (text, cut) => {
  expect(shortened(text, 3)).toBe(cut);
});
