import type { ContentPart, MessageItem, ResponseItem } from "../../../messages/response-item.js";
import { type Fields, saidText, textOf } from "./fields.js";

export function textPart(role: MessageItem["role"], text: string): ContentPart {
  return { type: role === "assistant" ? "output_text" : "input_text", text };
}

export function imagePart(mediaType: unknown, data: unknown): ContentPart | undefined {
  if (textOf(mediaType) === undefined || saidText(data) === undefined) return undefined;
  return { type: "input_image", image_url: `data:${String(mediaType)};base64,${String(data)}` };
}

/** Nothing for a message without parts. */
export function messageOf(role: MessageItem["role"], content: readonly ContentPart[]): ResponseItem[] {
  return content.length === 0 ? [] : [{ type: "message", role, content: [...content] }];
}

export function told(text: string): ResponseItem {
  return { type: "message", role: "developer", content: [{ type: "input_text", text }] };
}

/** What stands for all that came before it; nobody said it. */
export function summaryItem(text: string): ResponseItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }], summary: true };
}

/** What a tool gave back: one text as such, and anything more in its parts. */
export function outputOf(callId: string, parts: readonly ContentPart[]): ResponseItem {
  const [first, ...others] = parts;
  const isOneText = others.length === 0 && first !== undefined && "text" in first;
  const output = isOneText ? first.text : parts.length === 0 ? "" : [...parts];
  return { type: "function_call_output", call_id: callId, output };
}

/** A content that may be one text or a list of blocks; nothing when it is neither. */
export function blocksOf(content: unknown): readonly unknown[] | undefined {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : undefined;
}

/** What a user ran by hand, as Codex tells the model of it. */
export function shellCommand({ command, output, exitCode }: Fields): ResponseItem {
  const code = typeof exitCode === "number" ? `Exit code: ${exitCode}\n` : "";
  const result = `<result>\n${code}Output:\n${textOf(output) ?? ""}\n</result>`;
  const text = `<user_shell_command>\n<command>\n${textOf(command) ?? ""}\n</command>\n${result}\n</user_shell_command>`;
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}
