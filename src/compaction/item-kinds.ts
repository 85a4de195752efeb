import { type MessageItem, type ResponseItem, isFlagged, isOutput } from "../messages/response-item.js";
import { isRealUserMessage } from "../base/codex/context-message.js";

/**
 * Whether the item is a non-empty user request. Summaries and pins are not: a summary repeats requests, and pins are
 * kept separately.
 */
export function isRequest(item: ResponseItem): item is MessageItem & { role: "user" } {
  return (
    isRealUserMessage(item) && !isFlagged(item) && item.content.some((part) => !("text" in part) || part.text !== "")
  );
}

/**
 * Whether the model produced the item: an assistant message, reasoning, a call, or any other item that is neither an
 * output nor a message of another role.
 */
export function isFromModel(item: ResponseItem): boolean {
  if (item.type === "ghost_snapshot" || isOutput(item) || isFlagged(item)) return false;
  return item.type !== "message" || item.role === "assistant";
}
