import { codexItems, type PlainItem } from "../messages/codex-parts.js";
import { messageText, type ResponseItem } from "../messages/response-item.js";
import { isRequest } from "./item-kinds.js";

/** What people said, without what was told for them, summaries and pins; images and empty messages are left out. */
export function collectUserMessages(history: readonly (ResponseItem | PlainItem)[]): string[] {
  return codexItems(history)
    .flatMap((item) => (isRequest(item) ? [messageText(item)] : []))
    .filter((text) => text !== "");
}
