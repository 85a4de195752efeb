import { messageText, type ResponseItem } from "../messages/response-item.js";
import { isRealUserMessage } from "../base/codex/context-message.js";
import type { OutputItem } from "./history-messages.js";

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
