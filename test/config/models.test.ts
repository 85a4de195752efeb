import { expect, test } from "vitest";
import { modelTable } from "../../src/config/model-table.js";
import { costOf, knownModels, priceOf, resolveModel } from "../../src/config/models.js";
import { noTokens } from "../../src/messages/token-usage.js";

test.each([
  ["claude-sonnet-4-20250514", 200_000, 16_384, 3, 15, ["claude-sonnet", "sonnet"]],
  ["claude-3-5-haiku-20241022", 200_000, 8_192, 0.8, 4, ["claude-haiku", "haiku", "claude-haiku-3-5-20241022"]],
  ["gpt-4o", 128_000, 16_384, 2.5, 10, ["4o"]],
  ["gpt-4o-mini", 128_000, 16_384, 0.15, 0.6, ["4o-mini"]],
  ["o3", 200_000, 100_000, 10, 40, []],
])("%s is known, also by its other names", (id, contextWindow, maxOutput, input, output, aliases) => {
  const facts = { contextWindow, maxOutput, price: { input, output } };
  expect(resolveModel(id)).toMatchObject({ id, foundBy: "name", ...facts });
  for (const alias of aliases) expect(resolveModel(alias)).toMatchObject({ id, foundBy: "alias", ...facts });
});

test("no name stands for two models", () => {
  const names = modelTable.flatMap(({ id, aliases }) => [id, ...aliases]);
  expect(new Set(names).size).toBe(names.length);
});

test.each([
  ["claude-next", "prefix", "anthropic", 200_000],
  ["gpt-next", "prefix", "openai", 128_000],
  ["gpt-4.1-2025-04-14", "prefix", "openai", 1_047_576],
  ["o9-large", "prefix", "openai", 128_000],
  ["o3-2025-04-16", "prefix", "openai", 200_000],
  ["omega", "default", "anthropic", 200_000],
  ["llama-4", "default", "anthropic", 200_000],
])("%s is not known: %s", (name, foundBy, provider, contextWindow) => {
  expect(resolveModel(name)).toMatchObject({ id: name, foundBy, provider, contextWindow, maxOutput: 16_384 });
  expect(resolveModel(name).price).toBeUndefined();
});

test("the configuration adds models and says what is otherwise with those that are known", () => {
  const entries = {
    "lab-1": { provider: "my-lab", contextWindow: 32_000, price: { input: 1, output: 2 }, aliases: ["lab"] },
    "gpt-4o": { contextWindow: 64_000, aliases: ["mine"] },
  };
  expect(resolveModel("lab", entries)).toMatchObject({
    id: "lab-1",
    provider: "my-lab",
    contextWindow: 32_000,
    maxOutput: 16_384,
  });
  expect(resolveModel("mine", entries)).toMatchObject({ id: "gpt-4o", contextWindow: 64_000, price: { input: 2.5 } });
  expect(resolveModel("4o", entries)).toMatchObject({ id: "gpt-4o" });
  expect(knownModels(entries)).toHaveLength(modelTable.length + 1);
});

test("a price is found behind a vendor's name, and tokens cost what it says", () => {
  const price = priceOf("openai/gpt-4o") ?? { input: 0, output: 0 };
  const usage = { ...noTokens, input_tokens: 1_000_000, cached_input_tokens: 400_000, output_tokens: 100_000 };
  expect(costOf(usage, price)).toBeCloseTo(0.6 * 2.5 + 0.4 * 1.25 + 0.1 * 10, 10);
  expect(costOf(usage, { input: 1, output: 1 })).toBeCloseTo(1.1, 10);
  expect(costOf({ ...noTokens, cached_input_tokens: 5 }, { input: 1, output: 1 })).toBeCloseTo(5e-6, 12);
  expect(priceOf("llama-4")).toBeUndefined();
});
