import * as fc from "fast-check";
import { expect, test } from "vitest";
import { estimateTokens } from "../../../src/compaction/tokens/estimate-tokens.js";
import { truncateMiddle } from "../../../src/compaction/cut/cut-item.js";

test("a text that fits is unchanged", () => {
  expect(truncateMiddle("x".repeat(400), 100)).toBe("x".repeat(400));
});

test("a long text keeps both ends, and the marker has the number of removed characters", () => {
  const text = `${"a".repeat(100_000)}${"b".repeat(100_000)}`;
  const cut = truncateMiddle(text, 20_000);
  const [, head = "", removed = "", tail = ""] =
    /^(a+)\n\n\[\.\.\. (\d+) characters truncated \.\.\.\]\n\n(b+)$/.exec(cut) ?? [];
  expect(head.length + Number(removed) + tail.length).toBe(text.length);
  expect(head.length).toBeGreaterThan(0.49 * 80_000);
  expect(tail.length).toBeGreaterThan(0.49 * 80_000);
  expect(estimateTokens(cut)).toBeLessThanOrEqual(20_000);
});

test("a custom token counter is used", () => {
  const text = Array.from({ length: 1_000 }, (_, index) => `word${index}`).join(" ");
  const cut = truncateMiddle(text, 300, countWords);
  expect(countWords(cut)).toBeLessThanOrEqual(300);
  expect(countWords(cut)).toBeGreaterThan(250);
  expect(cut).toMatch(/^word0 [^]* characters truncated [^]* word999$/);
});

test("head and tail get two fifths of a small budget each, regardless of the marker", () => {
  expect(truncateMiddle("x".repeat(400), 10)).toBe(
    `${"x".repeat(16)}\n\n[... 368 characters truncated ...]\n\n${"x".repeat(16)}`,
  );
});

test("truncation never makes a text longer, and never splits a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 400 }), fc.nat({ max: 100 }), (text, tokens) => {
      const cut = truncateMiddle(text, tokens);
      expect(cut.length).toBeLessThanOrEqual(text.length);
      expect(cut.isWellFormed()).toBe(text.isWellFormed());
      expect(tokens < 64 || estimateTokens(cut) <= tokens).toBe(true);
      expect(truncateMiddle(cut, Math.max(64, tokens))).toBe(cut);
    }),
  );
});

function countWords(text: string): number {
  return text.split(/\s+/).length;
}
