import { isRecord } from "../../../base/is-record.js";
import { bareId } from "../../../base/text/conversation-id.js";
import type { ReasoningItem, ResponseItem } from "../../../messages/response-item.js";
import type { GitInfo, OwnLine } from "../../../messages/rollout-line.js";

/** The items of a message; `whole` is false when a part could not be converted. */
export interface ConvertedItems {
  readonly items: readonly ResponseItem[];
  readonly whole: boolean;
}

export const noItems: ConvertedItems = { items: [], whole: true };
export const unknownItems: ConvertedItems = { items: [], whole: false };

export function messageItem(role: "user" | "assistant", text: string): ResponseItem {
  const type = role === "user" ? "input_text" : "output_text";
  return { type: "message", role, content: [{ type, text }] };
}

export function reasoningItem(text: string, signature: unknown): ReasoningItem {
  return {
    type: "reasoning",
    summary: [],
    content: [{ type: "reasoning_text", text }],
    ...(typeof signature === "string" ? { encrypted_content: signature } : {}),
  };
}

export function callItem(id: string, name: string, input: unknown): ResponseItem {
  return { type: "function_call", call_id: id, name, arguments: JSON.stringify(input ?? {}) };
}

export function callOutputItem(id: string, output: unknown): ResponseItem {
  return { type: "function_call_output", call_id: id, output: typeof output === "string" ? output : json(output) };
}

function json(value: unknown): string {
  return JSON.stringify(value ?? null);
}

/** Converts the parts of a message to one item each; a plain text is one part. */
export function partItems(
  role: "user" | "assistant",
  content: unknown,
  itemOf: (part: Readonly<Record<string, unknown>>) => ResponseItem | undefined,
): ConvertedItems {
  if (typeof content === "string") return { items: [messageItem(role, content)], whole: true };
  if (!Array.isArray(content)) return unknownItems;
  const items = content.map((part: unknown) => {
    if (!isRecord(part)) return undefined;
    return part["type"] === "text" && typeof part["text"] === "string" ? messageItem(role, part["text"]) : itemOf(part);
  });
  return { items: items.filter((item) => item !== undefined), whole: !items.includes(undefined) };
}

/** A foreign line converted to Codex's lines; `whole` is false when a part could not be converted. */
export interface ConvertedLines {
  readonly lines: readonly OwnLine[];
  readonly whole: boolean;
}

export function itemLine(timestamp: string, item: ResponseItem): OwnLine {
  return { timestamp, type: "response_item", payload: item };
}

interface ForeignMeta {
  readonly conversationId: string;
  readonly timestamp: string;
  readonly cwd: string;
  readonly metadata: { readonly provider?: string; readonly model?: string };
  readonly git?: GitInfo;
}

/** Builds the first line for a conversation in a foreign format. */
export function metaLine({ conversationId, timestamp, cwd, metadata, git }: ForeignMeta): OwnLine {
  const payload = { id: bareId(conversationId), timestamp, cwd, originator: "unknown", cli_version: "unknown" };
  return {
    timestamp,
    type: "session_meta",
    metadata,
    payload: { ...payload, source: null, ...(git === undefined ? {} : { git }) },
  };
}
