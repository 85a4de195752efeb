import { estimateItemTokens, estimateTokens } from "../../src/compaction/tokens/estimate-tokens.js";
import type { MessageItem, ResponseItem } from "../../src/messages/response-item.js";

export function user(text: string): MessageItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

export function assistant(text: string): MessageItem {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

export function developer(text: string): MessageItem {
  return { type: "message", role: "developer", content: [{ type: "input_text", text }] };
}

export function pinned(text: string): MessageItem {
  return { ...user(text), pinned: true };
}

export function summary(text: string): MessageItem {
  return { ...user(text), summary: true };
}

export function environment(text: string): MessageItem {
  return user(`<environment_context>${text}</environment_context>`);
}

export function agents(text: string): MessageItem {
  return user(`# AGENTS.md instructions for /\n\n<INSTRUCTIONS>${text}</INSTRUCTIONS>`);
}

export function call(call_id: string, name = "shell", args: unknown = {}): ResponseItem {
  return { type: "function_call", name, arguments: JSON.stringify(args), call_id };
}

export function output(call_id: string, text = "done"): ResponseItem {
  return { type: "function_call_output", call_id, output: text };
}

export function thought(text: string): ResponseItem {
  return { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text }] };
}

export function ghost(id: string): ResponseItem {
  return { type: "ghost_snapshot", ghost_commit: { id } };
}

/** Counts one token per four characters. */
export function count(item: ResponseItem): number {
  return estimateItemTokens([item], estimateTokens);
}

export function total(items: readonly ResponseItem[]): number {
  return items.reduce((sum, item) => sum + count(item), 0);
}

/** A text with the given number of tokens. */
export function words(tokens: number, letter = "x"): string {
  return letter.repeat(tokens * 4);
}
