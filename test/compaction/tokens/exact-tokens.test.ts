import * as fc from "fast-check";
import * as cl100k from "gpt-tokenizer/encoding/cl100k_base";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { cutRuns, exactTokens } from "../../../src/compaction/tokens/exact-tokens.js";

test("exactTokens returns the counts of the encoding", async () => {
  const texts = ["", "hello world", "tiktoken is great!", "お誕生日おめでとう", "2 + 2 = 4"];
  expect(await exactTokens(texts, "o200k_base")).toEqual([0, 2, 6, 8, 7]);
  expect(await exactTokens(texts, "cl100k_base")).toEqual([0, 2, 6, 9, 7]);
});

const words = [
  "the",
  " New",
  " don't",
  "YOU'LL",
  "\r\n\n",
  "\t\t  ",
  "    ",
  "12345",
  "e\u0301",
  "\u2028",
  "😀👩‍👩‍👧",
  "\ud800",
];
const rareWords = [
  "\udc00",
  "<|endoftext|>",
  "// ===",
  "été",
  "Привет",
  "東京",
  "नमस्ते",
  "ﬁ",
  "ǅ",
  "aGVsbG8gd29ybGQ=",
];
/** The other implementation does not know the tokens with a byte order mark. */
const anyText = fc
  .oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.array(fc.constantFrom(...words, ...rareWords)).map((parts) => parts.join("")),
  )
  .filter((text) => !text.includes("\ufeff"));

test.each([
  ["cl100k_base", cl100k],
  ["o200k_base", o200k],
] as const)("any text has as many tokens in %s as another implementation counts", async (encoding, { countTokens }) => {
  const count = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      const expected = cutRuns(text).reduce((sum, piece) => sum + count(piece), 0);
      expect(await exactTokens([text], encoding)).toEqual([expected]);
    }),
    { numRuns: 1_000 },
  );
});

test("a byte order mark is a token", async () => {
  expect(await exactTokens(["\ufeff", "\ufeff\ufeffusing"], "o200k_base")).toEqual([1, 2]);
});

test("special tokens in a text are counted as text", async () => {
  const [count = 0] = await exactTokens(["<|endoftext|><|im_start|>system"], "o200k_base");
  expect(count).toBeGreaterThan(8);
});

test("lone surrogates are counted", async () => {
  expect(await exactTokens(["\ud800", "a\udc00b", "\ud83d\ude00"], "cl100k_base")).toEqual([1, 3, 2]);
});

test.each([
  ["a million spaces", " ".repeat(1_000_000)],
  ["one Chinese character 50,000 times", "中".repeat(50_000)],
  ["a megabyte of one letter", "a".repeat(1 << 20)],
  ["a megabyte of newlines", "\n".repeat(1 << 20)],
  ["signs without an end", "=-".repeat(500_000)],
  ["letters and marks", "a\u0301".repeat(100_000)],
])("counting %s takes no longer than ordinary text", async (_name, text) => {
  await exactTokens([text.slice(0, 1000)], "o200k_base");
  const begin = performance.now();
  const [count = 0] = await exactTokens([text], "o200k_base");
  // Without cutRuns these take from nine seconds to minutes.
  expect(performance.now() - begin).toBeLessThan(2_000);
  expect(count).toBeGreaterThan(0);
});
