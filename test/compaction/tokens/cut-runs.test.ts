import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cutRuns, maxRun } from "../../../src/compaction/tokens/exact-tokens.js";

const kinds = [/[\p{L}\p{M}]+/gu, /\s+/gu, /[^\s\p{L}\p{N}]+/gu];

function longestRun(text: string): number {
  const runs = kinds.flatMap((kind) => text.match(kind) ?? []);
  return Math.max(0, ...runs.map((run) => Array.from(run).length));
}

function isPair(text: string): boolean {
  return (text.codePointAt(0) ?? 0) > 0xffff;
}

/** Runs of one character: letters, marks, spaces, signs, digits, surrogate pairs, lone surrogates. */
const characters = ["a", "Z", "中", "\u0301", " ", "\n", "\t", "!", "<", "7", "😀", "𝒜", "\ud800", "\udc00"];
const runs = fc
  .array(fc.tuple(fc.constantFrom(...characters), fc.integer({ min: 1, max: 700 })), { maxLength: 12 })
  .map((parts) => parts.map(([character, count]) => character.repeat(count)).join(""));
/** Runs of one kind of character with different neighbours. */
const mixed = fc
  .array(fc.constantFrom("a", "B", "\u0301", "é", "𝒜"), { maxLength: 1500 })
  .map((letters) => `x ${letters.join("")}!`);

/** Any code units, including lone surrogates. */
const anything = fc.array(fc.nat(0xffff), { maxLength: 500 }).map((units) => String.fromCharCode(...units));

test("cutRuns keeps the text, leaves no long run and splits no surrogate pair", () => {
  fc.assert(
    fc.property(fc.oneof(runs, mixed, anything), (text) => {
      const pieces = cutRuns(text);
      expect(pieces.join("")).toBe(text);
      expect(Math.max(...pieces.map(longestRun))).toBeLessThanOrEqual(maxRun);
      expect(pieces.some((piece, index) => isPair(piece.slice(-1) + (pieces[index + 1] ?? "").slice(0, 1)))).toBe(
        false,
      );
      expect(pieces.length === 1).toBe(longestRun(text) <= maxRun);
    }),
    { numRuns: 100 },
  );
});

test("digits stay together, because an encoding never joins more than three", () => {
  expect(cutRuns("7".repeat(1000))).toEqual(["7".repeat(1000)]);
});

test("a run is cut at any position in the text", () => {
  for (const before of [0, 1, 100, 255, 256, 257, 511]) {
    const text = `${"7".repeat(before)}${"a".repeat(600)}`;
    expect(cutRuns(text)).toEqual([`${"7".repeat(before)}${"a".repeat(256)}`, "a".repeat(256), "a".repeat(88)]);
  }
});
