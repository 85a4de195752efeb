import { expect, onTestFinished, test } from "vitest";
import { exactTokens } from "../../src/compaction/tokens/exact-tokens.js";
import { countTokens, openCpuPool } from "../../src/workers/cpu-pool.js";
import { openManager } from "../support/open-conversation.js";

const words = "The quick brown fox jumps over the lazy dog, and it's 12:30 in São Paulo; 東京 sleeps.\n";

test("texts of every size are counted in threads as in the main thread", async () => {
  const pool = openCpuPool();
  onTestFinished(() => pool.close());
  const small = ["", "hello world", words, ...Array.from({ length: 500 }, (_, number) => `line ${number}`)];
  const texts = [words.repeat(3_500), ...small];
  expect(await countTokens(pool, texts, "gpt-5")).toEqual({ ok: true, value: await exactTokens(texts, "o200k_base") });
  expect(await countTokens(pool, small, "gpt-4")).toEqual({ ok: true, value: await exactTokens(small, "cl100k_base") });
  expect(await countTokens(pool, [], "gpt-5")).toEqual({ ok: true, value: [] });
  expect(pool.waiting).toBe(0);
});

test("a failed count reports the reason", async () => {
  const pool = openCpuPool();
  const counting = countTokens(pool, [words.repeat(20_000)], "gpt-5");
  await pool.close();
  expect(await counting).toMatchObject({ ok: false, failure: { code: "aborted" } });
});

test("a manager counts exactly, whatever the texts contain", async () => {
  const { manager } = await openManager();
  const texts = ["tiktoken is great!", "<|endoftext|>", " ".repeat(1_000_000), "\ud800"];
  expect(await manager.countTokens(texts, { model: "gpt-4o" })).toEqual(await exactTokens(texts, "o200k_base"));
});

test("a manager counts with the tokenizer it was given", async () => {
  const { manager } = await openManager({ tokenizer: { countTokens: (text) => text.length } });
  expect(await manager.countTokens(["abc", ""], { model: "gpt-4o" })).toEqual([3, 0]);
});

test("a manager that has been shut down refuses to count", async () => {
  const { manager } = await openManager();
  await manager.shutdown();
  await expect(manager.countTokens(["a"], { model: "gpt-4o" })).rejects.toMatchObject({
    name: "FailureError",
    code: "aborted",
  });
});
