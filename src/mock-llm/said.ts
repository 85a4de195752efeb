import type { ContentPart, MessageItem } from "../messages/response-item.js";
import { objectsOf } from "./json.js";

export function messageItem(role: MessageItem["role"], content: unknown): MessageItem {
  const type: ContentPart["type"] = role === "assistant" ? "output_text" : "input_text";
  return { type: "message", role, content: [{ type, text: textIn(content) }] };
}

/** The string itself, or the joined texts of all parts. */
export function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  const texts = objectsOf(content).flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : []));
  return texts.join("\n");
}

export function roleOf(role: unknown): MessageItem["role"] {
  return role === "assistant" || role === "system" || role === "developer" ? role : "user";
}
