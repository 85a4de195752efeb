import { messageText, type ResponseItem, codexItems, type PlainItem } from "../messages/response-item.js";
import { isRequest } from "./item-kinds.js";

/** Collects the texts the user typed. Injected context, summaries, pins, images and empty messages are left out. */
export function collectUserMessages(history: readonly (ResponseItem | PlainItem)[]): string[] {
  return codexItems(history)
    .flatMap((item) => (isRequest(item) ? [messageText(item)] : []))
    .filter((text) => text !== "");
}
