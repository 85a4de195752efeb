import { vi } from "vitest";
import type { ModelClient } from "../../src/providers/client-provider.js";
import { assistant } from "./scripted-provider.js";

/** Answers a summary request with the summary, and every other request with the next answer. */
export function createMockClient(answers: readonly string[] = [], summary = "Summary of conversation") {
  const left = [...answers];
  return {
    sendMessage: vi.fn<ModelClient["sendMessage"]>(async (request) => {
      const wantsSummary = request.messages.some(({ content }) => content.includes("concise summary"));
      return [assistant(wantsSummary ? summary : (left.shift() ?? "An answer"))];
    }),
  };
}

/** A tokenizer whose counts the test sets. */
export function createMockTokenizer(tokens: number) {
  return { countTokens: vi.fn<(text: string) => number>(() => tokens) };
}
