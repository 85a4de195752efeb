import type { PersistedEventMsg } from "../../messages/event.js";
import { messageText, type ResponseItem } from "../../messages/response-item.js";
import { isRealUserMessage } from "../../messages/user-message.js";

/** History as a person would see it: what the user and the model said, without context the runtime added. */
export function shownMessages(history: readonly ResponseItem[]): PersistedEventMsg[] {
  return history.flatMap((item): PersistedEventMsg[] => {
    if (isRealUserMessage(item)) return [{ type: "user_message", message: messageText(item) }];
    if (item.type === "message" && item.role === "assistant") {
      return [{ type: "agent_message", message: messageText(item) }];
    }
    if (item.type === "reasoning") return item.summary.map((part) => ({ type: "agent_reasoning", text: part.text }));
    return [];
  });
}
