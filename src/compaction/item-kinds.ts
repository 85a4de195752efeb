import type { MessageItem, ResponseItem } from "../messages/response-item.js";
import { isRealUserMessage } from "../messages/user-message.js";

export type CallItem = Extract<
  ResponseItem,
  { type: "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" }
>;
export type OutputItem = Extract<
  ResponseItem,
  { type: "function_call_output" | "custom_tool_call_output" | "tool_search_output" }
>;

/** Something a person asked for: not what a summary repeats, not what is pinned, which has its own place, and not nothing. */
export function isRequest(item: ResponseItem): item is MessageItem & { role: "user" } {
  return (
    isRealUserMessage(item) && !isFlagged(item) && item.content.some((part) => !("text" in part) || part.text !== "")
  );
}

export function isSummary(item: ResponseItem): item is MessageItem {
  return item.type === "message" && item.summary === true;
}

export function isPinned(item: ResponseItem): item is MessageItem {
  return item.type === "message" && item.pinned === true && item.summary !== true;
}

export function isFlagged(item: ResponseItem): boolean {
  return isSummary(item) || isPinned(item);
}

export function isCall(item: ResponseItem): item is CallItem {
  return (
    item.type === "function_call" ||
    item.type === "custom_tool_call" ||
    item.type === "local_shell_call" ||
    item.type === "tool_search_call"
  );
}

export function isOutput(item: ResponseItem): item is OutputItem {
  return (
    item.type === "function_call_output" ||
    item.type === "custom_tool_call_output" ||
    item.type === "tool_search_output"
  );
}

/** What the model did itself: words, thoughts, calls, and whatever else is no output and nobody else's message. */
export function isOfModel(item: ResponseItem): boolean {
  if (item.type === "ghost_snapshot" || isOutput(item) || isFlagged(item)) return false;
  return item.type !== "message" || item.role === "assistant";
}
