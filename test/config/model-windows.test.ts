import { expect, test } from "vitest";
import { contextWindow } from "../../src/config/models/models.js";

test.each([
  ["claude-sonnet-4-20250514", 200_000],
  ["claude-haiku-3-5-20241022", 200_000],
  ["claude-sonnet", 200_000],
  ["claude-2.0", 100_000],
  ["gpt-4o", 128_000],
  ["gpt-4o-mini", 128_000],
  ["gpt-4o-2024-08-06", 128_000],
  ["gpt-4.1-nano", 1_047_576],
  ["gpt-4.5-preview", 128_000],
  ["gpt-4", 8_192],
  ["gpt-4-0613", 8_192],
  ["gpt-4-turbo-2024-04-09", 128_000],
  ["gpt-4-1106-preview", 128_000],
  ["gpt-3.5-turbo", 16_385],
  ["gpt-5", 400_000],
  ["gpt-5-codex", 400_000],
  ["gpt-5.1-mini", 400_000],
  ["gpt-5-chat-latest", 128_000],
  ["o1", 200_000],
  ["o1-mini", 128_000],
  ["o3", 200_000],
  ["o4-mini", 200_000],
  ["gemini-2.5-pro", 1_048_576],
  ["offline", 128_000],
])("the window of %s is known", (model, tokens) => {
  expect(contextWindow(model)).toEqual({ tokens, isAssumed: false });
});

test.each([
  ["openai/gpt-4o", 128_000],
  ["openrouter/anthropic/claude-sonnet-4.5", 200_000],
  ["ollama/gpt-oss:20b", 131_072],
  ["google/gemini-2.5-flash:free", 1_048_576],
  ["ft:gpt-4o-mini-2024-07-18:acme::abc", 128_000],
  ["OpenAI/GPT-4o", 128_000],
])("a prefix or suffix does not hide a model name: %s", (model, tokens) => {
  expect(contextWindow(model)).toEqual({ tokens, isAssumed: false });
});

test.each(["llama3.3", "o11", "gpt-4orange", "my-gpt-4o", "openrouter/auto", "gpt-4o/mine", ""])(
  "the window of %j is assumed",
  (model) => {
    expect(contextWindow(model)).toEqual({ tokens: 128_000, isAssumed: true });
  },
);

test.each([
  ["claude-sonnet-5-5", 200_000],
  ["anthropic/claude-sonnet-5-5", 200_000],
  ["opus", 200_000],
  ["gpt-5.6-sol", 128_000],
  ["sol", 128_000],
])("the window of %s, known by name only, is assumed", (model, tokens) => {
  expect(contextWindow(model)).toEqual({ tokens, isAssumed: true });
  expect(contextWindow(model, 64_000)).toEqual({ tokens: 64_000, isAssumed: false });
});

test("the configuration overrides the window of known and unknown models", () => {
  expect(contextWindow("gpt-4o", 32_000)).toEqual({ tokens: 32_000, isAssumed: false });
  expect(contextWindow("llama3.3", 8_000)).toEqual({ tokens: 8_000, isAssumed: false });
});
