import type { MessageItem } from "../../messages/response-item.js";
import type { CustomItem, SentItem } from "./sent-item.js";

const opening = userMessage("[The beginning of this conversation is not shown.]");
const closing = userMessage("Go on.");

/** Messages begins and ends with the user: newer models refuse to go on with words put into their mouth. */
export function withUserAtBothEnds(items: readonly (SentItem | CustomItem)[]): (SentItem | CustomItem)[] {
  const [first, last] = [items.at(0), items.at(-1)];
  return [
    ...(first !== undefined && !isOfUser(first) ? [opening] : []),
    ...items,
    ...(last === undefined || !isOfUser(last) ? [closing] : []),
  ];
}

/** Whether the API counts it as said by the user, as it does with the outputs of tools. */
function isOfUser(item: SentItem | CustomItem): boolean {
  return item.type === "message" ? item.role !== "assistant" : item.type.endsWith("_output");
}

function userMessage(text: string): MessageItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}
