import type { ReasoningItem, ResponseItem } from "../../../messages/response-item.js";

/**
 * Whether a thought would make a history one that Codex cannot go on with: it sends back whatever it finds, and its API
 * takes only what is sealed, by itself.
 */
export function isForeignThought(item: ResponseItem): item is ReasoningItem {
  if (item.type !== "reasoning") return false;
  return typeof item.encrypted_content !== "string" || (item.origin !== undefined && item.origin.api !== "responses");
}

/** What Codex shows of a thought. */
export function thoughtTexts({ summary, content }: ReasoningItem): string[] {
  return (summary.length > 0 ? summary : (content ?? [])).map(({ text }) => text);
}
