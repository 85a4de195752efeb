import { isRecord } from "../base/is-record.js";
import type { ContentPart, MessageItem } from "../messages/response-item.js";

export type JsonObject = Readonly<Record<string, unknown>>;

const nothing: JsonObject = {};

// A lenient server accepts any shape: a value of an unexpected type counts as absent.
/** Neither undefined nor null. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function objectOf(value: unknown): JsonObject {
  return isRecord(value) ? value : nothing;
}

export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Looks up an untrusted key; never returns inherited properties. */
export function entryOf<T>(table: Readonly<Record<string, T>>, key: unknown): T | undefined {
  return typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The text of an object's fields, without its braces. */
export function fieldsText(fields: object): string {
  return JSON.stringify(fields).slice(1, -1);
}

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
