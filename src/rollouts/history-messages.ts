import { isRealUserMessage } from "../base/codex/context-message.js";
import {
  type ContentPart,
  messageText,
  type ReasoningItem,
  type ResponseItem,
  type ToolOutputContent,
} from "../messages/response-item.js";

/** An image or audio part sent with a text. */
export type Attachment = Exclude<ContentPart, { type: "input_text" | "output_text" }>;

/** A message without its encoding for the model. */
export type HistoryMessage =
  | { readonly type: "user"; readonly content: string; readonly attachments: readonly Attachment[] }
  | { readonly type: "assistant"; readonly content: string; readonly reasoning?: string }
  | { readonly type: "tool"; readonly call_id: string; readonly name: string; readonly result: string };

export interface ToolCallRecord {
  readonly call_id: string;
  readonly name: string;
  /** Verbatim from the model. */
  readonly arguments: string;
  /** Absent until the call has a result. */
  readonly result?: string;
}

/**
 * Converts items to messages, in order. Reasoning is attached to the next assistant message; encrypted reasoning and
 * developer messages are left out.
 */
export function messagesOf(items: readonly ResponseItem[]): HistoryMessage[] {
  const messages: HistoryMessage[] = [];
  const names = new Map<string, string>();
  let reasoning: string[] = [];
  const push = (content: string): void => {
    messages.push({ type: "assistant", content, ...(reasoning.length > 0 ? { reasoning: reasoning.join("\n") } : {}) });
    reasoning = [];
  };
  const endThoughts = (): void => {
    if (reasoning.length > 0) push("");
  };
  for (const item of items) {
    const call = callOf(item);
    if (call !== undefined) names.set(call.call_id, call.name);
    else if (item.type === "reasoning") reasoning.push(...reasoningTexts(item));
    else if (isCallOutput(item)) {
      const { call_id, output } = item;
      messages.push({ type: "tool", call_id, name: names.get(call_id) ?? "", result: outputText(output) });
    } else if (item.type === "message" && item.role === "assistant") push(messageText(item));
    else if (item.type === "message" && item.role === "user") {
      endThoughts();
      messages.push({ type: "user", content: messageText(item), attachments: item.content.filter(isAttachment) });
    }
  }
  endThoughts();
  return messages;
}

/** Returns the tool calls in these items with their results. */
export function toolCallsOf(items: readonly ResponseItem[]): ToolCallRecord[] {
  const results = new Map(items.filter(isCallOutput).map(({ call_id, output }) => [call_id, outputText(output)]));
  return items.flatMap((item) => {
    const call = callOf(item);
    if (call === undefined) return [];
    const result = results.get(call.call_id);
    return [{ ...call, ...(result === undefined ? {} : { result }) }];
  });
}

export function callOf(item: ResponseItem): Omit<ToolCallRecord, "result"> | undefined {
  switch (item.type) {
    case "function_call":
      return { call_id: item.call_id, name: item.name, arguments: item.arguments };
    case "custom_tool_call":
      return { call_id: item.call_id, name: item.name, arguments: item.input };
    case "local_shell_call":
      return { call_id: item.call_id ?? "", name: "local_shell", arguments: JSON.stringify(item.action) };
    default:
      return undefined;
  }
}

type OutputItem = Extract<ResponseItem, { type: "function_call_output" | "custom_tool_call_output" }>;

export function isCallOutput(item: ResponseItem): item is OutputItem {
  return item.type === "function_call_output" || item.type === "custom_tool_call_output";
}

export function isAttachment(part: ContentPart): part is Attachment {
  return !("text" in part);
}

export function reasoningTexts({ summary, content }: ReasoningItem): string[] {
  return (summary.length > 0 ? summary : (content ?? [])).map(({ text }) => text);
}

export function outputText(output: ToolOutputContent): string {
  if (typeof output === "string") return output;
  return output.map((part) => ("text" in part ? part.text : JSON.stringify(part))).join("\n");
}

/** A message in the flat form of other programs, with flags for the parts that are still missing. */
export interface FlaggedMessage {
  readonly role: string;
  readonly thinking?: boolean;
  readonly isThinkingComplete?: boolean;
  readonly toolName?: string;
  readonly toolArgs?: unknown;
  readonly toolResult?: unknown;
}

/** Whether a message may be stored: incomplete thinking and tool calls without a result may not. */
export function isMessageComplete(message: FlaggedMessage): boolean {
  switch (message.role) {
    case "user":
      return true;
    case "assistant":
      return message.thinking !== true || message.isThinkingComplete === true;
    case "tool":
      return Boolean(message.toolName) && message.toolArgs !== undefined && message.toolResult !== undefined;
    default:
      return false;
  }
}

/** A message in the form used by agents built on the AI SDK: a tool call and its result in one message. */
export type CoreMessage =
  | { readonly role: "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string }
  | {
      readonly role: "assistant";
      readonly content: string;
      readonly thinking: true;
      readonly isThinkingComplete: true;
      readonly thinkingSignature?: string;
    }
  | {
      readonly role: "tool";
      readonly content: string;
      readonly toolName: string;
      readonly toolArgs: unknown;
      readonly toolCallId: string;
      readonly toolResult: string;
    };

/** Converts items to messages, in order; calls without a result are left out. */
export function coreMessages(items: readonly ResponseItem[]): CoreMessage[] {
  const calls = new Map<string, { name: string; args: unknown }>();
  return items.flatMap((item): CoreMessage[] => {
    switch (item.type) {
      case "message":
        if (item.role === "assistant") return [{ role: "assistant", content: messageText(item) }];
        return isRealUserMessage(item) ? [{ role: "user", content: messageText(item) }] : [];
      case "reasoning":
        return thoughtOf(item);
      case "function_call":
        calls.set(item.call_id, { name: item.name, args: parsedArguments(item.arguments) });
        return [];
      case "custom_tool_call":
        calls.set(item.call_id, { name: item.name, args: { input: item.input } });
        return [];
      case "function_call_output":
      case "custom_tool_call_output":
        return resultOf(item, calls.get(item.call_id));
      default:
        return [];
    }
  });
}

function thoughtOf({
  content,
  summary,
  encrypted_content: signature,
}: Extract<ResponseItem, { type: "reasoning" }>): CoreMessage[] {
  const text = (content ?? summary).map((part) => part.text).join("\n");
  const signed = typeof signature === "string" ? { thinkingSignature: signature } : {};
  return [{ role: "assistant", content: text, thinking: true, isThinkingComplete: true, ...signed }];
}

function resultOf(
  { call_id: toolCallId, output }: OutputItem,
  call: { readonly name: string; readonly args: unknown } | undefined,
): CoreMessage[] {
  if (call === undefined) return [];
  const toolResult =
    typeof output === "string" ? output : output.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
  return [{ role: "tool", content: toolResult, toolName: call.name, toolArgs: call.args, toolCallId, toolResult }];
}

/** Falls back to the raw text, because a model may write invalid JSON. */
function parsedArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
