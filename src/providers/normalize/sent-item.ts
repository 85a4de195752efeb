import type {
  FunctionCallItem,
  FunctionCallOutputItem,
  MessageItem,
  ReasoningItem,
  ResponseItem,
} from "../../messages/response-item.js";

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
