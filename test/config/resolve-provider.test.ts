import { expect, test } from "vitest";
import { resolveProvider } from "../../src/config/providers/resolve-provider.js";

const inProcess = new Set(["offline"]);
const openai = { OPENAI_API_KEY: "sk-1" };
const anthropic = { ANTHROPIC_API_KEY: "sk-ant-1" };
const openrouter = { OPENROUTER_API_KEY: "k" };
const command = "chat" as const;

const atOpenai = { provider: "openai", api: "responses" };
const atAnthropic = { provider: "anthropic", api: "messages" };
const atOpenrouter = { provider: "openrouter", api: "chat", baseUrl: "https://openrouter.ai/api/v1" };
const atOllama = { provider: "ollama", api: "chat", baseUrl: "http://localhost:11434/v1" };

test.each([
  [{ model: "claude-opus-9" }, anthropic, { ...atAnthropic, model: "claude-opus-9" }],
  [{ model: "gpt-4o-mini" }, openai, { ...atOpenai, model: "gpt-4o-mini" }],
  [{ model: "o3" }, openai, { ...atOpenai, model: "o3" }],
  [{ model: "o4-mini" }, openai, { ...atOpenai, model: "o4-mini" }],
  [{ model: "opus" }, anthropic, { ...atAnthropic, model: "claude-opus-5-5" }],
  [{ model: "sonnet" }, { ...openai, ...anthropic }, { ...atAnthropic, model: "claude-sonnet-4-20250514" }],
  [{ model: "4o" }, { ...openai, ...anthropic }, { ...atOpenai, model: "gpt-4o" }],
  [{ model: "haiku", provider: "ollama" }, {}, { ...atOllama, model: "haiku" }],
  [{ model: "unheard-of" }, anthropic, { ...atAnthropic, model: "unheard-of" }],
  [{ model: "unheard-of" }, openai, { ...atOpenai, model: "unheard-of" }],
  [{ model: "unheard/of" }, openrouter, { ...atOpenrouter, model: "unheard/of" }],
  [{ model: "unheard-of" }, { ...openai, ...anthropic }, { ...atAnthropic, model: "unheard-of" }],
  [
    { model: "unheard-of", auth: "openai-api-key" as const },
    { ...openai, ...anthropic },
    { ...atOpenai, model: "unheard-of" },
  ],
  [{ model: "m", models: { m4: { aliases: ["m"], maxOutput: 9 } } }, openai, { ...atOpenai, model: "m4" }],
  [
    { model: "m", models: { m4: { aliases: ["m"], provider: "anthropic" } } },
    anthropic,
    { ...atAnthropic, model: "m4" },
  ],
  [{ model: "mine", models: { "gpt-4o": { aliases: ["mine"] } } }, openai, { ...atOpenai, model: "gpt-4o" }],
  [{ model: "offline" }, {}, { provider: "offline", model: "offline" }],
  [{ provider: "openai" }, openai, { ...atOpenai, model: "gpt-5.4" }],
  [{ provider: "openai", api: "chat" as const }, openai, { ...atOpenai, api: "chat", model: "gpt-5.4" }],
  [{ provider: "anthropic" }, anthropic, { ...atAnthropic, model: "claude-sonnet-5-5" }],
  [{ provider: "openrouter", model: "x/y" }, openrouter, { ...atOpenrouter, model: "x/y" }],
  [{ provider: "ollama", model: "qwen3" }, {}, { ...atOllama, model: "qwen3" }],
  [{ provider: "offline" }, openai, { provider: "offline", model: "offline" }],
  [{}, openai, { ...atOpenai, model: "gpt-5.4" }],
  [{}, anthropic, { ...atAnthropic, model: "claude-sonnet-4-20250514" }],
  [{}, openrouter, { ...atOpenrouter, model: "openrouter/auto" }],
  [{}, { ...openai, ...anthropic }, { ...atOpenai, model: "gpt-5.4" }],
])("%j with the keys %j resolves to %j", (config, env, expected) => {
  expect(resolveProvider({ config, env, inProcess, command: "other" })).toEqual({ ok: true, ...expected });
});

const configured = {
  providers: { openai: { apiKey: "sk-2", baseUrl: "http://lab/v1" }, anthropic: { apiKey: "sk-3" } },
};
const atLab = { ...atOpenai, baseUrl: "http://lab/v1" };

test.each([
  [configured, {}, { ...atLab, model: "gpt-5.4" }],
  [{ ...configured, model: "claude-x" }, {}, { ...atAnthropic, model: "claude-x" }],
  [{ ...configured, provider: "anthropic" }, openai, { ...atAnthropic, model: "claude-sonnet-5-5" }],
  [{ providers: { anthropic: { apiKey: "sk-3" } } }, openai, { ...atAnthropic, model: "claude-sonnet-4-20250514" }],
  [{ providers: { openai: { baseUrl: "http://lab/v1" } } }, openai, { ...atLab, model: "gpt-5.4" }],
  [
    { model: "unheard-of", providers: { openrouter: { apiKey: "k" } } },
    openai,
    { ...atOpenrouter, model: "unheard-of" },
  ],
  [{ providers: { openrouter: { apiKey: "k" } } }, {}, { ...atOpenrouter, model: "openrouter/auto" }],
  [
    { provider: "my-lab", model: "m", providers: { "my-lab": { baseUrl: "http://lab/v1" } } },
    {},
    { provider: "my-lab", api: "chat", model: "m", baseUrl: "http://lab/v1" },
  ],
])("%j configured, with the keys %j, resolves to %j", (config, env, expected) => {
  expect(resolveProvider({ config, env, inProcess, command: "other" })).toEqual({ ok: true, ...expected });
});

test.each([
  [{ ...configured, provider: "openai" }, { OPENAI_BASE_URL: "http://env/v1" }, "http://lab/v1"],
  [{ ...configured, provider: "openai", baseUrl: "http://said/v1" }, {}, "http://said/v1"],
  [{ ...configured, provider: "anthropic" }, {}, undefined],
  [{ provider: "openai" }, { OPENAI_BASE_URL: "http://localhost:1/v1" }, "http://localhost:1/v1"],
  [{ provider: "openai" }, { OPENAI_BASE_URL: " " }, undefined],
  [{ provider: "openai", baseUrl: "http://said/v1" }, { OPENAI_BASE_URL: "http://env/v1" }, "http://said/v1"],
  [{ provider: "anthropic" }, { ANTHROPIC_BASE_URL: "http://localhost:2" }, "http://localhost:2"],
  [{ provider: "ollama", model: "m" }, { OLLAMA_HOST: "gpu-box" }, "http://gpu-box:11434/v1"],
])("%j with %j uses the address %s", (config, env, baseUrl) => {
  const found = resolveProvider({ config, env: { ...openai, ...anthropic, ...env }, inProcess, command });
  expect(found).toMatchObject({ ok: true });
  expect("baseUrl" in found ? found.baseUrl : undefined).toBe(baseUrl);
});

test("any other name with a base URL is a compatible server and needs no key", () => {
  const config = { provider: "my-lab", baseUrl: "http://lab:8000/v1", model: "m" };
  const found = { ok: true, provider: "my-lab", api: "chat", model: "m", baseUrl: "http://lab:8000/v1" };
  expect(resolveProvider({ config, env: {}, inProcess, command })).toEqual(found);
  const messages = { ...config, api: "messages" as const };
  expect(resolveProvider({ config: messages, env: {}, inProcess, command })).toEqual({ ...found, api: "messages" });
});

test("an in-process provider needs neither key nor address, whatever its name", () => {
  const injected = new Set(["offline", "openai"]);
  const config = { provider: "openai", model: "m" };
  const expected = { ok: true, provider: "openai", model: "m" };
  expect(resolveProvider({ config, env: {}, inProcess: injected, command })).toEqual(expected);
});

const openaiText =
  "OPENAI_API_KEY environment variable is required for OpenAI models.\nGet a key: https://platform.openai.com/api-keys";
const anthropicText =
  "ANTHROPIC_API_KEY environment variable is required.\nGet a key: https://console.anthropic.com/settings/keys";

test.each([
  [{ provider: "openai" }, anthropic, openaiText],
  [{ provider: "openai", baseUrl: "http://localhost:1/v1" }, {}, openaiText],
  [{ model: "gpt-4o" }, { OPENAI_API_KEY: " " }, openaiText],
  [{ model: "claude-x" }, openai, anthropicText],
  [{ provider: "anthropic", providers: { openai: { apiKey: "k" }, anthropic: {} } }, {}, anthropicText],
  [
    { provider: "openrouter" },
    openai,
    "OPENROUTER_API_KEY environment variable is required for OpenRouter models.\nGet a key: https://openrouter.ai/keys",
  ],
])("%j given without its key is rejected with where to get one", (config, env, message) => {
  expect(resolveProvider({ config, env, inProcess, command })).toEqual({ ok: false, message });
});

test.each([
  [{}, `${anthropicText}\nIf another provider serves unheard-of, pass --provider <name>`],
  [
    { ...openai, ...openrouter },
    "Unknown model unheard-of, and several providers have a key.\nChoose one: --provider openai or --provider openrouter",
  ],
])("an unknown model with the keys %j is rejected with the possible options", (env, message) => {
  const config = { model: "unheard-of" };
  expect(resolveProvider({ config, env, inProcess, command })).toEqual({ ok: false, message });
});

test.each([
  [{ provider: "anthropic", api: "chat" as const }, {}, "anthropic supports the messages API, not chat"],
  [{ provider: "openai", api: "messages" as const }, {}, "openai supports the responses and chat API, not messages"],
  [{ provider: "openai" }, { OPENAI_BASE_URL: "nowhere" }, "OPENAI_BASE_URL: expected an http or https URL"],
  [{ provider: "openai" }, { OPENAI_BASE_URL: "http://me:pw@x/v1" }, "OPENAI_BASE_URL: expected an http or https URL"],
  [{ provider: "ollama" }, {}, "No model set for ollama.\nRun: cody set-provider ollama --model <model>"],
  [
    { provider: "frobnicate" },
    {},
    [
      "Unknown provider 'frobnicate'",
      "Known providers: anthropic, offline, ollama, openai, openrouter",
      "To add a provider of your own: cody set-provider frobnicate --base-url <url> --model <model>",
    ].join("\n"),
  ],
  [
    { provider: "antropic" },
    {},
    [
      "Unknown provider 'antropic'. Did you mean anthropic?",
      "Known providers: anthropic, offline, ollama, openai, openrouter",
      "To add a provider of your own: cody set-provider antropic --base-url <url> --model <model>",
    ].join("\n"),
  ],
])("%j with %j is rejected with a message", (config, env, message) => {
  expect(resolveProvider({ config, env: { ...openai, ...env }, inProcess, command })).toEqual({ ok: false, message });
});

test("another model of the offline provider is rejected, not replaced", () => {
  const config = { provider: "offline", model: "gpt-4o" };
  expect(resolveProvider({ config, env: {}, inProcess, command })).toEqual({
    ok: false,
    message: "The offline provider has no model gpt-4o.\nRun: cody set-provider offline --model offline",
  });
});

test("without a provider and a key the offline model is used with a notice", () => {
  expect(resolveProvider({ config: {}, env: {}, inProcess, command })).toEqual({
    ok: true,
    provider: "offline",
    model: "offline",
    notice:
      "No OPENAI_API_KEY or ANTHROPIC_API_KEY is set: using the built-in offline model. To add a key: cody set-auth openai-api-key -",
  });
});

test("a caller that requires a real model does not get the offline one", () => {
  expect(resolveProvider({ config: {}, env: {}, inProcess, command: "other" })).toEqual({
    ok: false,
    message: [
      "No OPENAI_API_KEY or ANTHROPIC_API_KEY is set.",
      "Get a key: https://platform.openai.com/api-keys",
      "Get a key: https://console.anthropic.com/settings/keys",
      "Or use the built-in offline model: cody set-provider offline",
    ].join("\n"),
  });
});

test("a login replaces the key of its own provider, over its own API and at its own address", () => {
  const config = { auth: "chatgpt-oauth" } as const;
  const env = { OPENAI_BASE_URL: "https://keys.example/v1" };
  const found = resolveProvider({ config, env, inProcess, command });
  const own = { provider: "openai", api: "responses", baseUrl: "https://chatgpt.com/backend-api/codex" };
  expect(found).toEqual({ ok: true, ...own, model: "gpt-5", login: "chatgpt" });
  const told = { ...config, providers: { openai: { baseUrl: "https://told.example" } } };
  expect(resolveProvider({ config: told, env, inProcess, command })).toMatchObject({ baseUrl: "https://told.example" });
  const other = { ...config, provider: "anthropic" };
  expect(resolveProvider({ config: other, env: anthropic, inProcess, command })).toEqual({
    ok: true,
    ...atAnthropic,
    model: "claude-sonnet-5-5",
  });
  expect(resolveProvider({ config: { ...config, api: "chat" }, env, inProcess, command })).toMatchObject({ ok: false });
});

test("a key in the keyring counts as present without reading it", () => {
  const config = { providers: { openrouter: { keyring: true } } };
  expect(resolveProvider({ config, env: openai, inProcess, command })).toMatchObject({ ok: true, ...atOpenrouter });
});

test("the selected auth method decides whose key is used, and a missing key is reported", () => {
  const config = { auth: "anthropic-api-key" } as const;
  expect(resolveProvider({ config, env: { ...openai, ...anthropic }, inProcess, command })).toMatchObject({
    ok: true,
    provider: "anthropic",
  });
  expect(resolveProvider({ config, env: openai, inProcess, command })).toEqual({
    ok: false,
    message: expect.stringContaining("ANTHROPIC_API_KEY environment variable is required."),
  });
  expect(resolveProvider({ config: { ...config, provider: "openai" }, env: openai, inProcess, command })).toMatchObject(
    { ok: true, provider: "openai" },
  );
});
