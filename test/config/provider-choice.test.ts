import { expect, test } from "vitest";
import { mergeChoice, type ProviderChoice } from "../../src/config/providers/choose-provider.js";

const lab = { provider: "openai", api: "chat", baseUrl: "http://lab/v1", model: "m" } as const;
const key = { OPENAI_API_KEY: "k" };

test.each<[string, ProviderChoice[], ProviderChoice]>([
  ["a later layer wins", [lab, { model: "n" }], { ...lab, model: "n" }],
  ["naming the same provider again changes nothing", [lab, { provider: "openai" }], lab],
  [
    "another provider does not get the base URL of the first",
    [lab, { provider: "anthropic" }],
    { provider: "anthropic" },
  ],
  [
    "selecting the first provider again restores its base URL and model",
    [lab, { provider: "anthropic", model: "c" }, { provider: "openai" }],
    lab,
  ],
  [
    "a model without a provider keeps the current provider",
    [{ provider: "ollama" }, { model: "gpt-oss" }],
    { provider: "ollama", model: "gpt-oss" },
  ],
  [
    "a model of Anthropic selects Anthropic",
    [{ provider: "openai", api: "chat" }, { model: "claude-x" }],
    { provider: "anthropic", model: "claude-x" },
  ],
  [
    "a model of OpenAI selects OpenAI",
    [{ provider: "anthropic" }, { model: "o3" }],
    { provider: "openai", model: "o3" },
  ],
  [
    "a model of another vendor keeps the provider with a configured base URL",
    [lab, { model: "claude-x" }],
    { ...lab, model: "claude-x" },
  ],
  [
    "a model of another vendor keeps a provider set in the same layer",
    [{ provider: "openai", model: "claude-x" }],
    { provider: "openai", model: "claude-x" },
  ],
  [
    "a base URL without a provider belongs to the provider with a key",
    [{ baseUrl: "http://lab/v1" }, { provider: "openai" }],
    { provider: "openai", baseUrl: "http://lab/v1" },
  ],
  [
    "a base URL without a provider is dropped for a provider without a key",
    [{ baseUrl: "http://lab/v1" }, { provider: "anthropic" }],
    { provider: "anthropic" },
  ],
  [
    "a base URL without a provider is dropped for a model of another vendor",
    [{ baseUrl: "http://lab/v1" }, { model: "claude-x" }],
    { model: "claude-x" },
  ],
  ["empty layers select nothing", [{}, { model: undefined }], {}],
])("%s", (_, layers, expected) => {
  expect(mergeChoice(layers, { env: key })).toEqual(expected);
});

test("a model without a known provider keeps the provider, even with other settings for the model", () => {
  const layers = [{ provider: "openai" }, { model: "mine" }];
  expect(mergeChoice(layers, { env: {} }, { mine: { contextWindow: 9000 } })).toEqual({
    provider: "openai",
    model: "mine",
  });
});

test("a base URL without a provider stays with an unknown model when there is a key", () => {
  const layers = [{ baseUrl: "http://lab/v1" }, { model: "mine" }];
  expect(mergeChoice(layers, { env: key })).toEqual({ baseUrl: "http://lab/v1", model: "mine" });
});

test("a base URL without a provider or a key applies to the given provider", () => {
  const layers = [{ baseUrl: "http://lab/v1" }, { provider: "ollama" }];
  expect(mergeChoice(layers, { env: {} })).toEqual({ provider: "ollama", baseUrl: "http://lab/v1" });
});

test("a configured key decides which provider a base URL belongs to, before a key in the environment", () => {
  const keys = { env: key, providers: { anthropic: { apiKey: "k" } } };
  const address = { baseUrl: "http://lab/v1" };
  expect(mergeChoice([address, { provider: "anthropic" }], keys)).toEqual({ provider: "anthropic", ...address });
  expect(mergeChoice([address, { provider: "openai" }], keys)).toEqual({ provider: "openai" });
});

test("a provider entry with a base URL accepts any model and keeps its own base URL", () => {
  const keys = { env: key, providers: { openai: { baseUrl: "http://lab/v1" } } };
  expect(mergeChoice([{ provider: "openai" }, { model: "claude-x" }], keys)).toEqual({
    provider: "openai",
    model: "claude-x",
  });
  expect(mergeChoice([{ provider: "anthropic" }, { model: "o3" }], keys)).toEqual({ provider: "openai", model: "o3" });
});
