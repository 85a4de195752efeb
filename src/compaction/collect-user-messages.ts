import { messageText, type ResponseItem } from "../messages/response-item.js";
import { isRequest } from "./item-kinds.js";

/** What people said, without what was told for them, summaries and pins; images and empty messages are left out. */
export function collectUserMessages(history: readonly ResponseItem[]): string[] {
  return history.flatMap((item) => (isRequest(item) ? [messageText(item)] : [])).filter((text) => text !== "");
}
