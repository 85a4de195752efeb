import { isRecord } from "./is-record.js";

/** An item as callers and old files may write it, with plain `text` parts, in Codex's names; anything else as it is. */
export function withCodexParts(item: unknown): unknown {
  if (!isRecord(item) || item["type"] !== "message" || !Array.isArray(item["content"])) return item;
  const type = item["role"] === "assistant" ? "output_text" : "input_text";
  const content = item["content"].map((part: unknown) =>
    isRecord(part) && part["type"] === "text" ? { ...part, type } : part,
  );
  return { ...item, content };
}
