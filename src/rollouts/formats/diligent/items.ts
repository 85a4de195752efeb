import type { ResponseItem } from "../../../messages/response-item.js";
import { answered, called, type FormItems, notUnderstood, partItems, thought } from "../lines/form-items.js";

type Value = Readonly<Record<string, unknown>>;

/** What the message of an entry says. */
export function entryItems(message: Value): FormItems {
  const { role, content, toolCallId, output } = message;
  if (role === "user") return partItems("user", content, () => undefined);
  if (role === "assistant") return partItems("assistant", content, blockItem);
  if (role !== "tool_result" || typeof toolCallId !== "string") return notUnderstood;
  return { items: [answered(toolCallId, output)], whole: true };
}

function blockItem({ type, id, name, input, thinking, signature }: Value): ResponseItem | undefined {
  if (type === "thinking" && typeof thinking === "string") return thought(thinking, signature);
  if (type !== "tool_call" || typeof id !== "string" || typeof name !== "string") return undefined;
  return called(id, name, input);
}
