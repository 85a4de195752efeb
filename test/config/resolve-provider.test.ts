import { expect, test } from "vitest";
import { resolveProvider } from "../../src/config/resolve-provider.js";

const all = new Set(["openai", "anthropic", "openrouter", "offline"]);
const early = new Set(["offline"]);
const openai = { OPENAI_API_KEY: "sk-1" };
const anthropic = { ANTHROPIC_API_KEY: "sk-ant-1" };
const command = "chat" as const;

test.each([
  [{ model: "claude-opus-9" }, anthropic, "anthropic", "claude-opus-9"],
  [{ model: "gpt-4o-mini" }, openai, "openai", "gpt-4o-mini"],
  [{ model: "o3" }, openai, "openai", "o3"],
  [{ model: "o4-mini" }, openai, "openai", "o4-mini"],
  [{ model: "opus" }, anthropic, "anthropic", "opus"],
  [{ model: "offline" }, {}, "offline", "offline"],
  [{ provider: "openai" }, openai, "openai", "gpt-4o"],
  [{ provider: "anthropic" }, anthropic, "anthropic", "claude-sonnet-4-20250514"],
  [{ provider: "openrouter", model: "x/y" }, { OPENROUTER_API_KEY: "k" }, "openrouter", "x/y"],
  [{ provider: "offline" }, openai, "offline", "offline"],
  [{}, openai, "openai", "gpt-4o"],
  [{}, anthropic, "anthropic", "claude-sonnet-4-20250514"],
  [{}, { ...openai, ...anthropic }, "openai", "gpt-4o"],
])("%j with the keys %j is %s %s", (config, env, provider, model) => {
  const expected = { ok: true, provider, model };
  expect(resolveProvider({ config, env, available: all, command: "other" })).toEqual(expected);
});

test("the wire API that was named goes along", () => {
  const config = { provider: "openai", api: "responses" as const, model: "o3" };
  expect(resolveProvider({ config, env: openai, available: all, command })).toEqual({
    ok: true,
    provider: "openai",
    api: "responses",
    model: "o3",
  });
});

const openaiText =
  "OPENAI_API_KEY environment variable is required for OpenAI models.\nGet a key: https://platform.openai.com/api-keys";
const anthropicText =
  "ANTHROPIC_API_KEY environment variable is required.\nGet a key: https://console.anthropic.com/settings/keys";

test.each([
  [{ provider: "openai" }, anthropic, openaiText],
  [{ model: "gpt-4o" }, { OPENAI_API_KEY: " " }, openaiText],
  [{ model: "claude-x" }, openai, anthropicText],
  [
    { provider: "openrouter" },
    openai,
    "OPENROUTER_API_KEY environment variable is required for OpenRouter models.\nGet a key: https://openrouter.ai/keys",
  ],
])("%j named without its key is refused with where to get one", (config, env, message) => {
  expect(resolveProvider({ config, env, available: all, command })).toEqual({ ok: false, message });
});

test("a provider this version does not have is refused with what there is", () => {
  const available = new Set(["offline", "client"]);
  const message =
    "This version of cody has no provider openai. It has: client, offline.\nOr use the built-in offline model: cody set-provider offline";
  expect(resolveProvider({ config: { provider: "openai" }, env: openai, available, command })).toEqual({
    ok: false,
    message,
  });
});

test("another model of the offline provider is not quietly replaced by it", () => {
  const config = { provider: "offline", model: "gpt-4o" };
  expect(resolveProvider({ config, env: {}, available: all, command })).toEqual({
    ok: false,
    message: "The offline provider has no model gpt-4o.\nRun: cody set-provider offline --model offline",
  });
});

test.each([
  [{}, all, "No OPENAI_API_KEY or ANTHROPIC_API_KEY is set: using the built-in offline model."],
  [
    openai,
    early,
    "OPENAI_API_KEY is set, but this version of cody has no provider openai yet: using the built-in offline model.",
  ],
  [
    anthropic,
    early,
    "ANTHROPIC_API_KEY is set, but this version of cody has no provider anthropic yet: using the built-in offline model.",
  ],
])(
  "with nothing named and the keys %j people fall back to the offline model and are told so",
  (env, available, notice) => {
    expect(resolveProvider({ config: {}, env, available, command })).toEqual({
      ok: true,
      provider: "offline",
      model: "offline",
      notice,
    });
  },
);

test("an available provider with a key comes before an unavailable one", () => {
  const available = new Set(["anthropic", "offline"]);
  expect(resolveProvider({ config: {}, env: { ...openai, ...anthropic }, available, command })).toEqual({
    ok: true,
    provider: "anthropic",
    model: "claude-sonnet-4-20250514",
  });
});

test("a program that needs a real model is not given the offline one", () => {
  expect(resolveProvider({ config: {}, env: {}, available: all, command: "other" })).toEqual({
    ok: false,
    message: [
      "No OPENAI_API_KEY or ANTHROPIC_API_KEY is set.",
      "Get a key: https://platform.openai.com/api-keys",
      "Get a key: https://console.anthropic.com/settings/keys",
      "Or use the built-in offline model: cody set-provider offline",
    ].join("\n"),
  });
});
