import { expect, test } from "vitest";
import { compactedText, tokenText } from "../../src/cli/format.js";

test.each([
  [0, "0"],
  [999, "999"],
  [1_000, "1k"],
  [1_234, "1.2k"],
  [9_949, "9.9k"],
  [9_950, "10k"],
  [12_345, "12k"],
  [142_400, "142k"],
  [999_499, "999k"],
  [999_500, "1M"],
  [1_047_576, "1M"],
  [1_234_567, "1.2M"],
  [12_345_678, "12M"],
])("%i tokens are printed as %s", (tokens, text) => {
  expect(tokenText(tokens)).toBe(text);
});

test("a compaction is described with its numbers before and after", () => {
  expect(compactedText(142_300, 28_100)).toBe("Context compacted: 142k → 28k tokens");
});
