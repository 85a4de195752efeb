import * as z from "zod";
import { typesOf, unknownVariant } from "./unknown-type.js";
import { isRecord } from "../base/is-record.js";

/** One part of a message. Codex drops a line that has a part of any other `type`. */
export const ContentPart = z.discriminatedUnion("type", [
  z.object({ type: z.literal("input_text"), text: z.string() }),
  z.object({ type: z.literal("output_text"), text: z.string() }),
  z.object({ type: z.literal("input_image"), image_url: z.string(), detail: z.string().nullish() }),
  z.object({ type: z.literal("input_audio"), audio_url: z.string() }),
]);
export type ContentPart = z.infer<typeof ContentPart>;

export const MessageItem = z.object({
  type: z.literal("message"),
  id: z.string().nullish(),
  role: z.enum(["user", "assistant", "developer", "system"]),
  content: z.array(ContentPart),
  /** Ours, like `pinned`; Codex ignores both. The message is a summary of compacted items, not written by a person. */
  summary: z.literal(true).optional(),
  /** The message survives every compaction. */
  pinned: z.literal(true).optional(),
});
export type MessageItem = z.infer<typeof MessageItem>;

/** The origin of opaque content: it may only be sent back to the same model over the same wire API. */
export const ItemOrigin = z.object({ api: z.enum(["responses", "chat", "messages"]), model: z.string() });
export type ItemOrigin = z.infer<typeof ItemOrigin>;

/**
 * Reasoning. Thinking of the Messages API is stored in `content`, with its signature in `encrypted_content`; redacted
 * thinking has no content.
 */
export const ReasoningItem = z.object({
  type: z.literal("reasoning"),
  id: z.string().nullish(),
  summary: z.array(z.object({ type: z.literal("summary_text"), text: z.string() })),
  content: z.array(z.object({ type: z.enum(["reasoning_text", "text"]), text: z.string() })).nullish(),
  encrypted_content: z.string().nullish(),
  /** Ours: Codex ignores it. */
  origin: ItemOrigin.optional(),
});
export type ReasoningItem = z.infer<typeof ReasoningItem>;

export const FunctionCallItem = z.object({
  type: z.literal("function_call"),
  id: z.string().nullish(),
  name: z.string(),
  namespace: z.string().nullish(),
  /** JSON as the model wrote it, not yet parsed. */
  arguments: z.string(),
  call_id: z.string(),
});
export type FunctionCallItem = z.infer<typeof FunctionCallItem>;

export const ToolOutputContent = z.union([z.string(), z.array(ContentPart)]);
export type ToolOutputContent = z.infer<typeof ToolOutputContent>;

const callOutput = {
  call_id: z.string(),
  output: ToolOutputContent,
  /** Ours: Codex ignores it. False if the call failed; absent if it succeeded or the result is unknown. */
  success: z.boolean().nullish(),
};

export const FunctionCallOutputItem = z.object({ type: z.literal("function_call_output"), ...callOutput });
export type FunctionCallOutputItem = z.infer<typeof FunctionCallOutputItem>;

const variants = [
  MessageItem,
  ReasoningItem,
  FunctionCallItem,
  FunctionCallOutputItem,
  z.object({
    type: z.literal("custom_tool_call"),
    status: z.string().nullish(),
    call_id: z.string(),
    name: z.string(),
    input: z.string(),
  }),
  z.object({ type: z.literal("custom_tool_call_output"), ...callOutput }),
  z.object({
    type: z.literal("local_shell_call"),
    call_id: z.string().nullish(),
    status: z.string(),
    action: z.looseObject({ type: z.string() }),
  }),
  z.object({
    type: z.literal("web_search_call"),
    id: z.string().nullish(),
    status: z.string().nullish(),
    action: z.looseObject({ type: z.string() }).nullish(),
  }),
  z.object({ type: z.literal("tool_search_call"), call_id: z.string().nullish(), arguments: z.unknown() }),
  z.object({ type: z.literal("tool_search_output"), call_id: z.string().nullish(), tools: z.array(z.unknown()) }),
  z.object({ type: z.literal("image_generation_call"), status: z.string(), result: z.string().nullish() }),
  /** The state of the files before a turn, or other state that survives compactions. Codex has only `ghost_commit`. */
  z
    .object({
      type: z.literal("ghost_snapshot"),
      ghost_commit: z.looseObject({ id: z.string() }).optional(),
      data: z.unknown().optional(),
    })
    .refine((item) => item.ghost_commit !== undefined || item.data !== undefined, "expected ghost_commit or data"),
  z.object({ type: z.literal("compaction"), encrypted_content: z.string() }),
  z.object({ type: z.literal("compaction_summary"), encrypted_content: z.string() }),
  z.object({ type: z.literal("context_compaction"), encrypted_content: z.string().nullish() }),
  z.object({
    type: z.literal("agent_message"),
    author: z.string(),
    recipient: z.string().nullish(),
    content: z.unknown(),
  }),
] as const;

/** One history item in Codex's own shape, so that nothing is renamed on the way to disk. */
export const ResponseItem = z.union([z.discriminatedUnion("type", variants), unknownVariant(typesOf(variants))]);
export type ResponseItem = z.infer<typeof ResponseItem>;

/** The text of a message: its text parts joined by newlines. */
export function messageText(item: MessageItem): string {
  return item.content.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
}

export type CallItem = Extract<
  ResponseItem,
  { type: "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" }
>;

export type OutputItem = Extract<
  ResponseItem,
  { type: "function_call_output" | "custom_tool_call_output" | "tool_search_output" }
>;

export function isSummary(item: ResponseItem): item is MessageItem {
  return item.type === "message" && item.summary === true;
}

export function isPinned(item: ResponseItem): item is MessageItem {
  return item.type === "message" && item.pinned === true && item.summary !== true;
}

export function isFlagged(item: ResponseItem): boolean {
  return isSummary(item) || isPinned(item);
}

export function isCall(item: ResponseItem): item is CallItem {
  return (
    item.type === "function_call" ||
    item.type === "custom_tool_call" ||
    item.type === "local_shell_call" ||
    item.type === "tool_search_call"
  );
}

export function isOutput(item: ResponseItem): item is OutputItem {
  return (
    item.type === "function_call_output" ||
    item.type === "custom_tool_call_output" ||
    item.type === "tool_search_output"
  );
}

/** The searchable text of an item; empty for items without text. */
export function itemText(item: ResponseItem): string {
  switch (item.type) {
    case "message":
      return partsText(item.content);
    case "reasoning":
      return [...item.summary, ...(item.content ?? [])].map(({ text }) => text).join("\n");
    case "function_call":
      return `${item.name} ${item.arguments}`;
    case "custom_tool_call":
      return `${item.name} ${item.input}`;
    case "local_shell_call":
      return `shell ${JSON.stringify(item.action)}`;
    case "web_search_call":
      return webSearchText(item.action);
    case "function_call_output":
    case "custom_tool_call_output":
      return typeof item.output === "string" ? item.output : partsText(item.output);
    default:
      return "";
  }
}

function partsText(parts: Exclude<ToolOutputContent, string>): string {
  return parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
}

/** The query of a web search in Codex's format: a query, an address, or a text in a page. Empty if unknown. */
export function webSearchQuery(action: unknown): string {
  if (!isRecord(action)) return "";
  const { query, queries, url, pattern } = action;
  if (typeof query === "string" && query !== "") return query;
  if (Array.isArray(queries)) return queries.filter((one) => typeof one === "string").join(", ");
  if (typeof pattern === "string") return typeof url === "string" ? `'${pattern}' in ${url}` : `'${pattern}'`;
  return typeof url === "string" ? url : "";
}

/** The web search as a short sentence without a subject. */
export function webSearchText(action: unknown): string {
  const query = webSearchQuery(action);
  if (query === "") return "Searched the web";
  const type = isRecord(action) ? action["type"] : undefined;
  if (type === "open_page") return `Opened the web page ${query}`;
  return type === "find_in_page" ? `Looked for ${query}` : `Searched the web for: ${query}`;
}

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
