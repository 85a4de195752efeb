import { textOf } from "../../../base/is-record.js";
import type { ContentPart, MessageItem, ResponseItem } from "../../../messages/response-item.js";

export { fieldsOf } from "../../../base/is-record.js";

export function textPart(role: MessageItem["role"], text: string): ContentPart {
  return { type: role === "assistant" ? "output_text" : "input_text", text };
}

export function imagePart(mediaType: unknown, data: unknown): ContentPart | undefined {
  if (textOf(mediaType) === undefined || nonBlankText(data) === undefined) return undefined;
  return { type: "input_image", image_url: `data:${String(mediaType)};base64,${String(data)}` };
}

/** Builds a message; returns nothing for one without parts. */
export function messageOf(role: MessageItem["role"], content: readonly ContentPart[]): ResponseItem[] {
  return content.length === 0 ? [] : [{ type: "message", role, content: [...content] }];
}

export function developerMessage(text: string): ResponseItem {
  return { type: "message", role: "developer", content: [{ type: "input_text", text }] };
}

/** Builds a summary, which replaces everything before it. */
export function summaryItem(text: string): ResponseItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }], summary: true };
}

/** Builds a tool output: a single text as a string, anything else as parts. */
export function outputOf(callId: string, parts: readonly ContentPart[]): ResponseItem {
  const [first, ...others] = parts;
  const isOneText = others.length === 0 && first !== undefined && "text" in first;
  const output = isOneText ? first.text : parts.length === 0 ? "" : [...parts];
  return { type: "function_call_output", call_id: callId, output };
}

/** Normalizes a content that may be a text or a list of blocks; undefined when it is neither. */
export function blocksOf(content: unknown): readonly unknown[] | undefined {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : undefined;
}

/** Describes a command that the user ran by hand, in Codex's markup. */
export function shellCommand({ command, output, exitCode }: Fields): ResponseItem {
  const code = typeof exitCode === "number" ? `Exit code: ${exitCode}\n` : "";
  const result = `<result>\n${code}Output:\n${textOf(output) ?? ""}\n</result>`;
  const text = `<user_shell_command>\n<command>\n${textOf(command) ?? ""}\n</command>\n${result}\n</user_shell_command>`;
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

export type Fields = Readonly<Record<string, unknown>>;

/** Returns an object's fields; none for any other value. */
/** Returns a text unless it is blank. */
export function nonBlankText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
