import { isRecord } from "../../../base/is-record.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import {
  callOutputItem,
  callItem,
  type ConvertedItems,
  noItems,
  unknownItems,
  partItems,
  reasoningItem,
} from "../lines/converted-items.js";

type Value = Readonly<Record<string, unknown>>;

/** Converts a message of the AI SDK, extended so that one message may contain a tool call and its result. */
export function messageItems(message: Value): ConvertedItems {
  switch (message["role"]) {
    case "user":
      return partItems("user", message["content"], () => undefined);
    case "assistant":
      return assistantItems(message);
    case "tool":
      return toolItems(message);
    case "system":
      return noItems;
    default:
      return unknownItems;
  }
}

function assistantItems(message: Value): ConvertedItems {
  const { content, thinking, isThinkingComplete, thinkingSignature } = message;
  if (thinking !== true) return partItems("assistant", content, assistantPart);
  // Incomplete thinking is dropped.
  if (isThinkingComplete !== true || typeof content !== "string") return noItems;
  return { items: [reasoningItem(content, thinkingSignature)], whole: true };
}

function assistantPart(part: Value): ResponseItem | undefined {
  const { type, text, toolCallId, toolName, args, input } = part;
  if (type === "reasoning" && typeof text === "string") return reasoningItem(text, part["signature"]);
  if (type !== "tool-call" || typeof toolCallId !== "string" || typeof toolName !== "string") return undefined;
  return callItem(toolCallId, toolName, args ?? input);
}

function toolItems(message: Value): ConvertedItems {
  const { content, toolCallId, toolName, toolArgs, toolResult } = message;
  if (Array.isArray(content)) return partItems("assistant", content, resultPart);
  if (typeof toolCallId !== "string" || typeof toolName !== "string") return unknownItems;
  // A call without its result was never finished.
  if (toolResult === undefined || toolResult === null) return noItems;
  return { items: [callItem(toolCallId, toolName, toolArgs), callOutputItem(toolCallId, toolResult)], whole: true };
}

function resultPart({ type, toolCallId, result, output }: Value): ResponseItem | undefined {
  if (type !== "tool-result" || typeof toolCallId !== "string") return undefined;
  // Newer versions of the SDK wrap the result with its kind.
  return callOutputItem(toolCallId, result ?? (isRecord(output) && "value" in output ? output["value"] : output));
}
