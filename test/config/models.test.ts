import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { modelTable } from "../../src/config/models/model-table.js";
import { costOf, factsOf, knownModels, priceOf, resolveModel } from "../../src/config/models/models.js";
import { vendorOf } from "../../src/config/providers/vendors.js";
import { noTokens } from "../../src/messages/token-usage.js";

test.each([
  ["claude-sonnet-4-20250514", 200_000, 16_384, 3, 15, ["claude-sonnet", "sonnet"]],
  ["claude-3-5-haiku-20241022", 200_000, 8_192, 0.8, 4, ["claude-haiku", "haiku", "claude-haiku-3-5-20241022"]],
  ["gpt-4o", 128_000, 16_384, 2.5, 10, ["4o"]],
  ["gpt-4o-mini", 128_000, 16_384, 0.15, 0.6, ["4o-mini"]],
  ["o3", 200_000, 100_000, 10, 40, []],
])("%s is known, also by its aliases", (id, contextWindow, maxOutput, input, output, aliases) => {
  const facts = { contextWindow, maxOutput, price: { input, output } };
  expect(resolveModel(id)).toMatchObject({ id, foundBy: "name", ...facts });
  for (const alias of aliases) expect(resolveModel(alias)).toMatchObject({ id, foundBy: "alias", ...facts });
});

test.each([
  ["claude-sonnet-5-5", "claude-sonnet-latest", "sonnet-latest"],
  ["claude-haiku-5-5", "claude-haiku-latest", "haiku-latest"],
  ["claude-opus-5-5", "claude-opus-latest", "opus-latest", "claude-opus", "opus"],
  ["claude-fable-5-2", "claude-fable", "fable"],
  ["claude-mythos-5-2", "claude-mythos", "mythos"],
  ["gpt-5.6-sol", "sol"],
  ["gpt-5.6-terra", "terra"],
  ["gpt-5.6-luna", "luna"],
  ["gpt-5.4", "gpt-latest"],
  ["gpt-5.4-mini", "gpt-mini-latest"],
  ["gpt-5.4-nano", "gpt-nano-latest"],
])("%s is known, also by its short names", (id, ...aliases) => {
  expect(resolveModel(id)).toMatchObject({ id, foundBy: "name" });
  for (const alias of aliases) expect(resolveModel(alias)).toMatchObject({ id, foundBy: "alias" });
});

test("a model known by name only has no window, output limit or price, and gets safe defaults", () => {
  expect(knownModels().find(({ id }) => id === "claude-sonnet-5-5")).toEqual({
    id: "claude-sonnet-5-5",
    provider: "anthropic",
    contextWindow: undefined,
    maxOutput: undefined,
    price: undefined,
    abilities: ["reasoning", "images"],
    aliases: ["claude-sonnet-latest", "sonnet-latest"],
  });
  expect(resolveModel("claude-sonnet-5-5")).toMatchObject({ contextWindow: 200_000, maxOutput: 16_384 });
  expect(resolveModel("gpt-5.6-sol")).toMatchObject({ contextWindow: 128_000, maxOutput: 16_384 });
  expect(factsOf("gpt-5.6-sol")).toEqual({ reasons: true });
  expect(factsOf("gpt-5")).toEqual({ reasons: true, maxOutput: 128_000 });
  expect(priceOf("claude-sonnet-5-5")).toBeUndefined();
  const entries = { "gpt-5.6-sol": { contextWindow: 500_000, maxOutput: 64_000, price: { input: 1, output: 2 } } };
  expect(resolveModel("sol", entries)).toMatchObject({ id: "gpt-5.6-sol", ...entries["gpt-5.6-sol"] });
  expect(factsOf("sol", entries)).toEqual({ reasons: true, maxOutput: 64_000 });
});

test("models without figures and the vendors' defaults are in the vendors' SDKs and not deprecated", () => {
  const require = createRequire(import.meta.url);
  const sources = {
    anthropic: [require.resolve("@anthropic-ai/sdk/resources/messages/messages.js"), /^export type Model = .*$/m],
    openai: [require.resolve("openai/resources/shared.js"), /^export type (?:ChatModel|ResponsesModel) = .*$/gm],
  } as const;
  for (const [provider, [path, declaration]] of Object.entries(sources)) {
    const types = readFileSync(path.replace(/\.js$/, ".d.ts"), "utf8").match(declaration)?.join("\n") ?? "";
    const deprecated = /DEPRECATED_MODELS = \{[^}]*\}/.exec(readFileSync(path, "utf8"))?.[0] ?? "";
    const newer = modelTable.filter((model) => model.provider === provider && model.contextWindow === undefined);
    for (const name of [...newer.map(({ id }) => id), vendorOf(provider)?.model]) {
      expect(types).toContain(`'${name}'`);
      expect(deprecated).not.toContain(`'${name}'`);
    }
  }
});

test("no name belongs to two models", () => {
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

test("the configuration adds models and overrides known ones", () => {
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

test("a price is found behind a vendor prefix, and tokens are charged by it", () => {
  const price = priceOf("openai/gpt-4o") ?? { input: 0, output: 0 };
  const usage = { ...noTokens, input_tokens: 1_000_000, cached_input_tokens: 400_000, output_tokens: 100_000 };
  expect(costOf(usage, price)).toBeCloseTo(0.6 * 2.5 + 0.4 * 1.25 + 0.1 * 10, 10);
  expect(costOf(usage, { input: 1, output: 1 })).toBeCloseTo(1.1, 10);
  expect(costOf({ ...noTokens, cached_input_tokens: 5 }, { input: 1, output: 1 })).toBeCloseTo(5e-6, 12);
  expect(priceOf("llama-4")).toBeUndefined();
});
