import { type MessageItem, type ResponseItem, isFlagged, isOutput } from "../messages/response-item.js";
import { isRealUserMessage } from "../messages/user-message.js";

/** Something a person asked for: not what a summary repeats, not what is pinned, which has its own place, and not nothing. */
export function isRequest(item: ResponseItem): item is MessageItem & { role: "user" } {
  return (
    isRealUserMessage(item) && !isFlagged(item) && item.content.some((part) => !("text" in part) || part.text !== "")
  );
}

/** What the model did itself: words, thoughts, calls, and whatever else is no output and nobody else's message. */
export function isOfModel(item: ResponseItem): boolean {
  if (item.type === "ghost_snapshot" || isOutput(item) || isFlagged(item)) return false;
  return item.type !== "message" || item.role === "assistant";
}
