import { isRecord } from "../../../base/is-record.js";
import type { ReasoningItem, ResponseItem } from "../../../messages/response-item.js";

/** The items of a message; `whole` is false when a part could not be converted. */
export interface FormItems {
  readonly items: readonly ResponseItem[];
  readonly whole: boolean;
}

export const nothing: FormItems = { items: [], whole: true };
export const notUnderstood: FormItems = { items: [], whole: false };

export function said(role: "user" | "assistant", text: string): ResponseItem {
  const type = role === "user" ? "input_text" : "output_text";
  return { type: "message", role, content: [{ type, text }] };
}

export function thought(text: string, signature: unknown): ReasoningItem {
  return {
    type: "reasoning",
    summary: [],
    content: [{ type: "reasoning_text", text }],
    ...(typeof signature === "string" ? { encrypted_content: signature } : {}),
  };
}

export function called(id: string, name: string, input: unknown): ResponseItem {
  return { type: "function_call", call_id: id, name, arguments: JSON.stringify(input ?? {}) };
}

export function answered(id: string, output: unknown): ResponseItem {
  return { type: "function_call_output", call_id: id, output: typeof output === "string" ? output : json(output) };
}

function json(value: unknown): string {
  return JSON.stringify(value ?? null);
}

/** Converts the parts of a message to one item each; a plain text is one part. */
export function partItems(
  role: "user" | "assistant",
  content: unknown,
  itemOf: (part: Readonly<Record<string, unknown>>) => ResponseItem | undefined,
): FormItems {
  if (typeof content === "string") return { items: [said(role, content)], whole: true };
  if (!Array.isArray(content)) return notUnderstood;
  const items = content.map((part: unknown) => {
    if (!isRecord(part)) return undefined;
    return part["type"] === "text" && typeof part["text"] === "string" ? said(role, part["text"]) : itemOf(part);
  });
  return { items: items.filter((item) => item !== undefined), whole: !items.includes(undefined) };
}
