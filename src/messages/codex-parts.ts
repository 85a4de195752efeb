import { isRecord } from "../base/is-record.js";
import type { ResponseItem } from "./response-item.js";

type Plain<T> = T extends { type: "input_text" | "output_text"; text: string } ? { type: "text"; text: string } : T;

/** A history item whose text parts have the type `text`. */
export type PlainItem = ResponseItem extends infer I
  ? I extends { type: "message"; content: (infer P)[] }
    ? Omit<I, "content"> & { content: Plain<P>[] }
    : I
  : never;

export function plainItems(items: readonly ResponseItem[]): PlainItem[] {
  return items.map((item) =>
    item.type === "message"
      ? { ...item, content: item.content.map((part) => ("text" in part ? { type: "text", text: part.text } : part)) }
      : item,
  );
}

/** The same items with Codex's part types. */
export function codexItems(items: readonly (ResponseItem | PlainItem)[]): ResponseItem[] {
  return items.map((item) => withCodexParts(item) as ResponseItem);
}

/**
 * Converts an item with plain `text` parts, as callers and old files may write it, to Codex's part types. Anything else
 * is returned unchanged.
 */
export function withCodexParts(item: unknown): unknown {
  if (!isRecord(item)) return item;
  const { content, output } = item;
  if (item["type"] === "message" && hasPlainText(content)) {
    return { ...item, content: renamed(content, item["role"] === "assistant" ? "output_text" : "input_text") };
  }
  return hasPlainText(output) ? { ...item, output: renamed(output, "input_text") } : item;
}

/**
 * Converts the items of a rollout line to Codex's part types: its own item, or those of a history that replaces
 * another.
 */
export function withCodexItems<T extends Readonly<Record<string, unknown>>>(line: T): T {
  const { type, payload } = line;
  if (!isRecord(payload)) return line;
  if (type === "response_item") return { ...line, payload: withCodexParts(payload) };
  const key = type === "compacted" ? "replacement_history" : "items";
  const items = payload[key];
  return Array.isArray(items) ? { ...line, payload: { ...payload, [key]: items.map(withCodexParts) } } : line;
}

function hasPlainText(parts: unknown): parts is readonly unknown[] {
  return Array.isArray(parts) && parts.some(isPlainText);
}

function renamed(parts: readonly unknown[], type: string): unknown[] {
  return parts.map((part) => (isPlainText(part) ? { ...part, type } : part));
}

function isPlainText(part: unknown): part is Readonly<Record<string, unknown>> {
  return isRecord(part) && part["type"] === "text";
}
