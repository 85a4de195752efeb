import * as fc from "fast-check";
import { expect, test } from "vitest";
import { exactTokens } from "../../../src/compaction/tokens/exact-tokens.js";
import { splitText } from "../../../src/compaction/tokens/estimate-tokens.js";

const words = [
  "the",
  " quick",
  "Fox",
  "'s",
  " ",
  "\n",
  "\n\n",
  "\t",
  "中文",
  "。",
  "/",
  "//",
  "1234",
  "😀",
  "a\u0301",
  "{",
  " it's",
];
const texts = fc.array(fc.constantFrom(...words), { maxLength: 400 }).map((parts) => parts.join(""));

/** Any code units at all, halves of pairs among them. */
const anything = fc.array(fc.nat(0xffff), { maxLength: 500 }).map((units) => String.fromCharCode(...units));

test("the parts are the text, none is too long, and no pair is parted", () => {
  fc.assert(
    fc.property(fc.oneof(texts, anything), fc.integer({ min: 2, max: 100 }), (text, max) => {
      const parts = splitText(text, max);
      expect(parts.join("")).toBe(text);
      expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(max);
      expect(parts.map((part) => Array.from(part).length).reduce((sum, count) => sum + count)).toBe(
        Array.from(text).length,
      );
    }),
    { numRuns: 100 },
  );
});

test.each(["cl100k_base", "o200k_base"] as const)(
  "parts that end at a seam add up to the whole with %s",
  async (encoding) => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const seam = "end of it";
        // A seam in every window, so that no part is cut anywhere.
        const whole = Array.from({ length: 5 }, () => `${text}${seam}\nand`).join("");
        const [count, ...parts] = await exactTokens([whole, ...splitText(whole, text.length + 20)], encoding);
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(count);
      }),
      { numRuns: 40 },
    );
  },
);
