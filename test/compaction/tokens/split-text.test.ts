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

/** Any code units, including lone surrogates. */
const anything = fc.array(fc.nat(0xffff), { maxLength: 500 }).map((units) => String.fromCharCode(...units));

test("splitText keeps the text, respects the maximum and splits no surrogate pair", () => {
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
  "token counts of parts split at token boundaries add up to the total with %s",
  async (encoding) => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const seam = "end of it";
        // Every window has a boundary, so no part is cut elsewhere.
        const whole = Array.from({ length: 5 }, () => `${text}${seam}\nand`).join("");
        const [count, ...parts] = await exactTokens([whole, ...splitText(whole, text.length + 20)], encoding);
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(count);
      }),
      { numRuns: 40 },
    );
  },
);
