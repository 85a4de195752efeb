import { isRealUserMessage } from "../../../base/codex/context-message.js";
import { shortened } from "../../../base/text/truncate.js";
import {
  type MessageItem,
  messageText,
  type ResponseItem,
  type ToolOutputContent,
  webSearchText,
} from "../../../messages/response-item.js";
import {
  type Attachment,
  callOf,
  isAttachment,
  isCallOutput,
  reasoningTexts,
  outputText,
} from "../../history-messages.js";
import type { TurnEntry } from "./turns.js";

/** A piece of a transcript for a human reader. */
export type Part =
  | { readonly type: "user" | "pinned"; readonly text: string; readonly attachments: readonly Attachment[] }
  | { readonly type: "assistant" | "thought" | "context" | "summary"; readonly text: string }
  | { readonly type: "call"; readonly name: string; readonly given: string; output?: ToolOutputContent }
  /** Any other item: its kind or a short description, and its JSON. */
  | { readonly type: "other"; readonly kind: string; readonly json: string }
  | { readonly type: "compacted"; readonly summary: string; readonly tokens?: readonly [before: number, after: number] }
  | { readonly type: "replaced"; readonly items: number }
  | { readonly type: "rolled_back"; readonly turns: number };

const maxKindChars = 200;

type Call = Extract<Part, { type: "call" }>;

/** Converts entries to parts, in order; a call's output is stored with the call. */
export function partsOf(entries: readonly TurnEntry[]): Part[] {
  const calls = new Map<string, Call>();
  return entries.flatMap((entry) => entryParts(entry, calls));
}

function entryParts(entry: TurnEntry, calls: Map<string, Call>): Part[] {
  switch (entry.type) {
    case "item":
      return itemParts(entry.item, calls);
    case "compacted": {
      const { message, cody } = entry.compacted;
      const tokens = cody === undefined ? {} : { tokens: [cody.tokens_before, cody.tokens_after] as const };
      return [{ type: "compacted", summary: message, ...tokens }];
    }
    case "replaced":
      return [
        { type: "replaced", items: entry.items.length },
        ...entry.unseen.flatMap((item) => itemParts(item, calls)),
      ];
    case "rolled_back":
      break;
  }
  return [{ type: "rolled_back", turns: entry.turns }];
}

function itemParts(item: ResponseItem, calls: Map<string, Call>): Part[] {
  const call = callOf(item);
  if (call !== undefined) {
    const part: Call = { type: "call", name: call.name, given: call.arguments };
    calls.set(call.call_id, part);
    return [part];
  }
  if (isCallOutput(item)) {
    const known = calls.get(item.call_id);
    // An output without a call, or a second one for the same call, is still shown.
    if (known === undefined || known.output !== undefined) {
      return [{ type: "call", name: "", given: "", output: item.output }];
    }
    known.output = item.output;
    return [];
  }
  if (item.type === "message") return messageParts(item);
  if (item.type === "reasoning") {
    const text = reasoningTexts(item).join("\n\n");
    return text === "" ? [] : [{ type: "thought", text }];
  }
  if (item.type === "ghost_snapshot") return [];
  const kind = item.type === "web_search_call" ? shortened(webSearchText(item.action), maxKindChars) : item.type;
  return [{ type: "other", kind, json: JSON.stringify(item, null, 2) }];
}

function messageParts(item: MessageItem): Part[] {
  const text = messageText(item);
  if (item.summary === true) return [{ type: "summary", text }];
  if (item.role === "assistant") return [{ type: "assistant", text }];
  if (!isRealUserMessage(item)) return [{ type: "context", text }];
  return [{ type: item.pinned === true ? "pinned" : "user", text, attachments: item.content.filter(isAttachment) }];
}

/** An item reduced to what other formats can represent. */
export type PlainPart =
  | { readonly type: "message"; readonly role: "user" | "assistant" | "system"; readonly text: string }
  | { readonly type: "thought"; readonly text: string; readonly signature: string | undefined }
  | { readonly type: "called"; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: "answered"; readonly id: string; readonly output: string };

/** Reduces an item to such a part and calls `leave` for each kind of content that is lost. */
export function plainPart(item: ResponseItem, leave: (kind: string) => void): PlainPart | undefined {
  if (item.type === "message") return messagePart(item, leave);
  if (item.type === "reasoning") {
    const text = [...item.summary, ...(item.content ?? [])].map((part) => part.text).join("\n");
    const signature = item.encrypted_content ?? undefined;
    if (text !== "" || signature !== undefined) return { type: "thought", text, signature };
    leave("reasoning");
    return undefined;
  }
  const call = callOf(item);
  if (call !== undefined) {
    return { type: "called", id: call.call_id, name: call.name, input: inputOf(item, call.arguments) };
  }
  if (isCallOutput(item)) {
    if (typeof item.output !== "string") for (const part of item.output) if (!("text" in part)) leave(part.type);
    return { type: "answered", id: item.call_id, output: textOf(item.output) };
  }
  leave(item.type);
  return undefined;
}

function messagePart(item: MessageItem, leave: (kind: string) => void): PlainPart {
  for (const part of item.content) if (!("text" in part)) leave(part.type);
  const role = item.role === "user" || item.role === "assistant" ? item.role : "system";
  return { type: "message", role, text: messageText(item) };
}

function textOf(output: Parameters<typeof outputText>[0]): string {
  return typeof output === "string" ? output : outputText(output.filter((part) => "text" in part));
}

/** Parses the arguments, because other formats store them as a value. */
function inputOf(item: ResponseItem, argumentsText: string): unknown {
  if (item.type === "custom_tool_call") return { input: argumentsText };
  try {
    return JSON.parse(argumentsText);
  } catch {
    // Invalid JSON is kept as the model wrote it.
    return argumentsText;
  }
}
