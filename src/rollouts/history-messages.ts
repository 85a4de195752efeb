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
  let thoughts: string[] = [];
  const say = (content: string): void => {
    messages.push({ type: "assistant", content, ...(thoughts.length > 0 ? { reasoning: thoughts.join("\n") } : {}) });
    thoughts = [];
  };
  const endThoughts = (): void => {
    if (thoughts.length > 0) say("");
  };
  for (const item of items) {
    const call = callOf(item);
    if (call !== undefined) names.set(call.call_id, call.name);
    else if (item.type === "reasoning") thoughts.push(...reasoningTexts(item));
    else if (isOutput(item)) {
      const { call_id, output } = item;
      messages.push({ type: "tool", call_id, name: names.get(call_id) ?? "", result: outputText(output) });
    } else if (item.type === "message" && item.role === "assistant") say(messageText(item));
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
  const results = new Map(items.filter(isOutput).map(({ call_id, output }) => [call_id, outputText(output)]));
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

export type OutputItem = Extract<ResponseItem, { type: "function_call_output" | "custom_tool_call_output" }>;

export function isOutput(item: ResponseItem): item is OutputItem {
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
