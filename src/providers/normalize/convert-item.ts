import { isJsonObject } from "../../base/parse.js";
import {
  type FunctionCallItem,
  type MessageItem,
  type ResponseItem,
  webSearchQuery,
  webSearchText,
  type ContentPart,
  type ToolOutputContent,
  type FunctionCallOutputItem,
  type ReasoningItem,
} from "../../messages/response-item.js";
import type { ApiRules } from "./api-rules.js";

/**
 * An image that all three APIs accept: a URL, or inline data. For inline data, group 1 is the media type and the data
 * follows the match.
 */
export const sendableImage = /^(?:https:\/\/(?=\S)|data:(image\/(?:png|jpeg|gif|webp));base64,(?=[A-Za-z0-9+/]))/;

const searchStatuses: ReadonlySet<unknown> = new Set(["in_progress", "searching", "completed", "failed"]);

type CustomCallItem = Extract<CustomItem, { type: "custom_tool_call" }>;

type WebSearchItem = Extract<CustomItem, { type: "web_search_call" }>;

const maxNameChars = 64;

/**
 * Converts one item for the API; undefined for items that are never sent. Does not decide about reasoning, or anything
 * that depends on other items.
 */
export function convertItem(item: ResponseItem, rules: ApiRules): SentItem | CustomItem | undefined {
  switch (item.type) {
    case "message":
      return message(item, rules);
    case "reasoning":
      return item;
    case "function_call":
      return functionCall(item);
    case "function_call_output":
      return withOutput(item);
    case "custom_tool_call":
      return rules.customTools
        ? customCall(item)
        : asFunctionCall(item.name, { input: item.input.toWellFormed() }, item.call_id);
    case "custom_tool_call_output":
      return withOutput(item);
    case "local_shell_call":
      // The APIs require ids that we do not store, or have no such call. A function call gives its output a place.
      return item.call_id ? asFunctionCall("local_shell", item.action, item.call_id) : undefined;
    case "web_search_call":
      return (rules.webSearches ? webSearch(item) : undefined) ?? searchNote(item.action);
    // The answer that follows describes the results of the provider's other tools.
    case "tool_search_call":
    case "tool_search_output":
    case "image_generation_call":
    // Encrypted content, which another account or another server would always reject.
    case "compaction":
    case "compaction_summary":
    case "context_compaction":
    case "ghost_snapshot":
    case "agent_message":
      return undefined;
    // An item type from a later version.
    default:
      return undefined;
  }
}

/** The required fields of each kind of search; the API rejects a search without them and unknown kinds. */
const searchKeys: Readonly<Record<string, readonly string[]>> = {
  search: ["query"],
  open_page: ["url"],
  find_in_page: ["url", "pattern"],
};

function webSearch({ status, action }: WebSearchItem): WebSearchItem | undefined {
  const type = action?.type ?? "";
  const keys = Object.hasOwn(searchKeys, type) ? searchKeys[type] : undefined;
  const fields = (keys ?? []).map((key) => [key, textOf(action?.[key])] as const);
  if (fields.length === 0 || fields.some(([, text]) => text === "")) return undefined;
  const known = searchStatuses.has(status) ? status : "completed";
  return { type: "web_search_call", status: known, action: { type, ...Object.fromEntries(fields) } };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.toWellFormed() : "";
}

function searchNote(action: unknown): MessageItem | undefined {
  if (webSearchQuery(action).trim() === "") return undefined;
  const text = `(${webSearchText(action).toWellFormed()})`;
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

function message(item: MessageItem, rules: ApiRules): MessageItem | undefined {
  const role = rules.roles[item.role];
  const content = sentParts(item.content, role);
  if (content.length === 0) return undefined;
  return role === item.role && sameMembers(content, item.content) ? item : { ...item, role, content };
}

function withOutput<T extends Extract<ResponseItem, { output: unknown }>>(item: T): T {
  const output = sentOutput(item.output);
  const same = Array.isArray(output) && Array.isArray(item.output) ? sameMembers(output, item.output) : false;
  return same || output === item.output ? item : { ...item, output };
}

function functionCall(item: FunctionCallItem): FunctionCallItem {
  const [name, args] = [sentName(item.name), sentArguments(item.arguments)];
  return name === item.name && args === item.arguments ? item : { ...item, name, arguments: args };
}

function customCall(item: CustomCallItem): CustomCallItem {
  const [name, input] = [sentName(item.name), item.input.toWellFormed()];
  return name === item.name && input === item.input ? item : { ...item, name, input };
}

/** A model may have called a name that is not valid for a tool. */
function sentName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, maxNameChars) || "unknown";
}

function asFunctionCall(name: string, args: object, call_id: string): SentItem {
  return functionCall({ type: "function_call", name, arguments: JSON.stringify(args), call_id });
}

function sameMembers(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((member, index) => member === b[index]);
}

/**
 * Returns a call's arguments as a JSON object. Some servers parse the arguments of all calls in every request and
 * reject invalid ones, so a single bad call would break the rest of the conversation. Invalid arguments are sent as a
 * text in an object.
 */
function sentArguments(text: string): string {
  const args = text.toWellFormed();
  if (args.trim() === "") return "{}";
  return isJsonObject(args) ? args : JSON.stringify({ arguments: args });
}

/** The non-empty parts of a message, in the form its role may use. */
function sentParts(parts: readonly ContentPart[], role: MessageItem["role"]): ContentPart[] {
  const type = role === "assistant" ? "output_text" : "input_text";
  return parts.flatMap((part) => sentPart(part, type, role === "user"));
}

/** Converts a tool output. The output may be empty, but none of its parts may be. */
function sentOutput(output: ToolOutputContent): ToolOutputContent {
  if (typeof output === "string") return output.toWellFormed();
  const parts = output.flatMap((part) => sentPart(part, "input_text", true));
  return parts.length === 0 ? "" : parts;
}

function sentPart(part: ContentPart, type: "input_text" | "output_text", imagesAllowed: boolean): ContentPart[] {
  if (part.type === "input_image") {
    return [imagesAllowed && sendableImage.test(part.image_url) ? part : { type, text: "[image left out]" }];
  }
  if (part.type === "input_audio") return [{ type, text: "[audio left out]" }];
  // The Messages API rejects blank texts just like empty ones.
  if (part.text.trim() === "") return [];
  // A lone surrogate, left by truncation, is invalid JSON for some servers.
  const text = part.text.toWellFormed();
  return [part.type === type && part.text === text ? part : { type, text }];
}

/** The items that every wire API accepts. */
export type SentItem = MessageItem | ReasoningItem | FunctionCallItem | FunctionCallOutputItem;

/** The items that only the Responses API has: tools with plain-text input, and searches by the provider. */
export type CustomItem = Extract<
  ResponseItem,
  { type: "custom_tool_call" | "custom_tool_call_output" | "web_search_call" }
>;

export type Call = Extract<SentItem | CustomItem, { type: "function_call" | "custom_tool_call" }>;

export type CallOutput = Extract<SentItem | CustomItem, { type: "function_call_output" | "custom_tool_call_output" }>;

export function isSentCall(item: SentItem | CustomItem): item is Call {
  return item.type === "function_call" || item.type === "custom_tool_call";
}

export function isCallOutput(item: SentItem | CustomItem): item is CallOutput {
  return item.type === "function_call_output" || item.type === "custom_tool_call_output";
}
