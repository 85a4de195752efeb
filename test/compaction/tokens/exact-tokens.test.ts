import { expect, test } from "vitest";
import { exactTokens } from "../../../src/compaction/tokens/exact-tokens.js";

test("exactTokens returns the counts of the encoding", async () => {
  const texts = ["", "hello world", "tiktoken is great!", "お誕生日おめでとう", "2 + 2 = 4"];
  expect(await exactTokens(texts, "o200k_base")).toEqual([0, 2, 6, 8, 7]);
  expect(await exactTokens(texts, "cl100k_base")).toEqual([0, 2, 6, 9, 7]);
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
