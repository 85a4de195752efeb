import { messageText, type MessageItem, type ResponseItem } from "../../../messages/response-item.js";
import { callOf, isOutput, outputText } from "../../history-messages.js";

/** An item reduced to what other formats can represent. */
export type PlainPart =
  | { readonly type: "said"; readonly role: "user" | "assistant" | "system"; readonly text: string }
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
  if (isOutput(item)) {
    if (typeof item.output !== "string") for (const part of item.output) if (!("text" in part)) leave(part.type);
    return { type: "answered", id: item.call_id, output: textOf(item.output) };
  }
  leave(item.type);
  return undefined;
}

function messagePart(item: MessageItem, leave: (kind: string) => void): PlainPart {
  for (const part of item.content) if (!("text" in part)) leave(part.type);
  const role = item.role === "user" || item.role === "assistant" ? item.role : "system";
  return { type: "said", role, text: messageText(item) };
}

function textOf(output: Parameters<typeof outputText>[0]): string {
  return typeof output === "string" ? output : outputText(output.filter((part) => "text" in part));
}

/** Parses the arguments, because other formats store them as a value. */
function inputOf(item: ResponseItem, given: string): unknown {
  if (item.type === "custom_tool_call") return { input: given };
  try {
    return JSON.parse(given);
  } catch {
    // Invalid JSON is kept as the model wrote it.
    return given;
  }
}
