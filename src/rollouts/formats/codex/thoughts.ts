import type { ReasoningItem, ResponseItem } from "../../../messages/response-item.js";

/**
 * Whether a reasoning item would prevent Codex from continuing the history: Codex sends back every item it finds, and
 * its API accepts only reasoning that it encrypted itself.
 */
export function isForeignReasoning(item: ResponseItem): item is ReasoningItem {
  if (item.type !== "reasoning") return false;
  return typeof item.encrypted_content !== "string" || (item.origin !== undefined && item.origin.api !== "responses");
}

/** Returns the texts of a reasoning item that Codex shows. */
export function shownReasoning({ summary, content }: ReasoningItem): string[] {
  return (summary.length > 0 ? summary : (content ?? [])).map(({ text }) => text);
}
