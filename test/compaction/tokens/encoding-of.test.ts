import { modelToEncodingMap } from "gpt-tokenizer/mapping";
import { expect, test } from "vitest";
import { encodingOf } from "../../../src/compaction/tokens/estimate-tokens.js";

test.each([
  ["gpt-4o", "o200k_base"],
  ["gpt-4o-mini-2024-07-18", "o200k_base"],
  ["chatgpt-4o-latest", "o200k_base"],
  ["gpt-4.1", "o200k_base"],
  ["gpt-5-codex", "o200k_base"],
  ["gpt-5.2", "o200k_base"],
  ["o1", "o200k_base"],
  ["o3-mini", "o200k_base"],
  ["o4-mini", "o200k_base"],
  ["claude-opus-4", "o200k_base"],
  ["offline", "o200k_base"],
  ["", "o200k_base"],
  ["gpt-4", "cl100k_base"],
  ["gpt-4-turbo-2024-04-09", "cl100k_base"],
  ["openai/gpt-4-32k", "cl100k_base"],
  ["ft:gpt-3.5-turbo-0125:acme::abc", "cl100k_base"],
  ["gpt-35-turbo", "cl100k_base"],
])("the encoding of %s is %s", (model, encoding) => {
  expect(encodingOf(model)).toBe(encoding);
});

test("encodingOf agrees with the tokenizer's table for every older chat model", () => {
  const chat = Object.entries(modelToEncodingMap).filter(([model]) => /^gpt-[3-9]/.test(model));
  expect(chat.length).toBeGreaterThan(10);
  expect(chat.map(([model]) => [model, encodingOf(model)])).toEqual(chat);
});
