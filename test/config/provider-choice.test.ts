import { expect, test } from "vitest";
import { mergeChoice, type ProviderChoice } from "../../src/config/providers/choose-provider.js";

const lab = { provider: "openai", api: "chat", baseUrl: "http://lab/v1", model: "m" } as const;
const key = { OPENAI_API_KEY: "k" };

test.each<[string, ProviderChoice[], ProviderChoice]>([
  ["a later layer wins", [lab, { model: "n" }], { ...lab, model: "n" }],
  ["naming the same provider again changes nothing", [lab, { provider: "openai" }], lab],
  [
    "another provider does not get the address of the first",
    [lab, { provider: "anthropic" }],
    { provider: "anthropic" },
  ],
  ["who comes back to the first gets it", [lab, { provider: "anthropic", model: "c" }, { provider: "openai" }], lab],
  [
    "a model alone stays with its provider",
    [{ provider: "ollama" }, { model: "gpt-oss" }],
    { provider: "ollama", model: "gpt-oss" },
  ],
  [
    "a model of the other vendor means that vendor",
    [{ provider: "openai", api: "chat" }, { model: "claude-x" }],
    { provider: "anthropic", model: "claude-x" },
  ],
  ["also the other way round", [{ provider: "anthropic" }, { model: "o3" }], { provider: "openai", model: "o3" }],
  ["but not at an address somebody configured", [lab, { model: "claude-x" }], { ...lab, model: "claude-x" }],
  [
    "nor when both were said together",
    [{ provider: "openai", model: "claude-x" }],
    { provider: "openai", model: "claude-x" },
  ],
  [
    "an address without a name goes with the provider of the key",
    [{ baseUrl: "http://lab/v1" }, { provider: "openai" }],
    { provider: "openai", baseUrl: "http://lab/v1" },
  ],
  ["and with no other", [{ baseUrl: "http://lab/v1" }, { provider: "anthropic" }], { provider: "anthropic" }],
  ["and with no other model", [{ baseUrl: "http://lab/v1" }, { model: "claude-x" }], { model: "claude-x" }],
  ["nothing said is nothing chosen", [{}, { model: undefined }], {}],
])("%s", (_, layers, expected) => {
  expect(mergeChoice(layers, { env: key })).toEqual(expected);
});

test("a model whose provider nobody has said stays where it is, also when something else is said of it", () => {
  const layers = [{ provider: "openai" }, { model: "mine" }];
  expect(mergeChoice(layers, { env: {} }, { mine: { contextWindow: 9000 } })).toEqual({
    provider: "openai",
    model: "mine",
  });
});

test("an address without a name goes with a model nobody knows, where the key is", () => {
  const layers = [{ baseUrl: "http://lab/v1" }, { model: "mine" }];
  expect(mergeChoice(layers, { env: key })).toEqual({ baseUrl: "http://lab/v1", model: "mine" });
});

test("an address without a name, where there is no key either, goes with whoever is named", () => {
  const layers = [{ baseUrl: "http://lab/v1" }, { provider: "ollama" }];
  expect(mergeChoice(layers, { env: {} })).toEqual({ provider: "ollama", baseUrl: "http://lab/v1" });
});

test("a key that is configured says whose an address is, before one in the environment", () => {
  const keys = { env: key, providers: { anthropic: { apiKey: "k" } } };
  const address = { baseUrl: "http://lab/v1" };
  expect(mergeChoice([address, { provider: "anthropic" }], keys)).toEqual({ provider: "anthropic", ...address });
  expect(mergeChoice([address, { provider: "openai" }], keys)).toEqual({ provider: "openai" });
});

test("at the address of a provider's entry there may be any model, and it goes with no other provider", () => {
  const keys = { env: key, providers: { openai: { baseUrl: "http://lab/v1" } } };
  expect(mergeChoice([{ provider: "openai" }, { model: "claude-x" }], keys)).toEqual({
    provider: "openai",
    model: "claude-x",
  });
  expect(mergeChoice([{ provider: "anthropic" }, { model: "o3" }], keys)).toEqual({ provider: "openai", model: "o3" });
});
