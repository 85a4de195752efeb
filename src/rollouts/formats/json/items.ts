import { isRecord } from "../../../base/is-record.js";
import { type ContentPart, type MessageItem, ResponseItem, withCodexParts } from "../../../messages/response-item.js";
import { callOutputItem, callItem, reasoningItem } from "../lines/form-items.js";
import { type Fields, fieldsOf, nonBlankText, textOf } from "../import/fields.js";
import type { Losses } from "../import/losses.js";
import { blocksOf, imagePart, messageOf, outputOf, textPart } from "../import/parts.js";

const knownItem = ResponseItem.options[0];

/** Maps serde's default names for the variants of the state document's `Message` to roles. */
const serdeRoles: ReadonlyMap<string, string> = new Map([
  ["User", "user"],
  ["Assistant", "assistant"],
  ["Tool", "tool"],
]);

/** Converts one element of a JSON history: a history item, or a message in the form of chat APIs. */
export function jsonItems(value: unknown, losses: Losses): ResponseItem[] {
  const item = withCodexParts(value);
  if (knownItem.safeParse(item).success) return [item as ResponseItem];
  const message = fieldsOf(serdeMessage(value) ?? value);
  const role = roleOf(message);
  switch (role) {
    case "user":
    case "developer":
      return messageOf(role, [...parts(role, message["content"], losses), ...attachments(message, losses)]);
    case "assistant":
      return assistantItems(message, losses);
    case "tool":
    case "function":
      return outputItems(message, losses);
    case "system":
      losses.count("system_messages");
      return [];
    default:
      losses.count("unknown_parts");
      return [];
  }
}

/** Converts a message in serde's default form, `{"User": {…}}`, to one with its role as a field. */
export function serdeMessage(value: unknown): Fields | undefined {
  const [[key, fields] = ["", undefined], ...others] = Object.entries(fieldsOf(value));
  const role = serdeRoles.get(key);
  return role === undefined || others.length > 0 || !isRecord(fields) ? undefined : { role, ...fields };
}

/** Returns the role, which histories of conversations store in `type`. */
export function roleOf(message: Fields): unknown {
  return message["role"] ?? message["type"];
}

function assistantItems(message: Fields, losses: Losses): ResponseItem[] {
  const reasoning =
    nonBlankText(message["reasoning"]) ??
    nonBlankText(message["reasoning_content"]) ??
    nonBlankText(message["thinking"]);
  const calls = message["tool_calls"];
  return [
    ...(reasoning === undefined ? [] : [reasoningItem(reasoning, undefined)]),
    ...messageOf("assistant", parts("assistant", message["content"] ?? "", losses)),
    ...(Array.isArray(calls) ? calls : []).flatMap((call: unknown) => callItems(fieldsOf(call), losses)),
  ];
}

export function callItems(call: Fields, losses: Losses): ResponseItem[] {
  const { name, arguments: given, input } = { ...call, ...fieldsOf(call["function"]) };
  const id = textOf(call["id"]) ?? textOf(call["call_id"]);
  if (id === undefined || typeof name !== "string") {
    losses.count("unknown_parts");
    return [];
  }
  const written = given ?? input;
  if (typeof written !== "string") return [callItem(id, name, written)];
  return [{ type: "function_call", call_id: id, name, arguments: written }];
}

function outputItems(message: Fields, losses: Losses): ResponseItem[] {
  const id = textOf(message["tool_call_id"]) ?? textOf(message["call_id"]);
  if (id === undefined) {
    losses.count("unknown_parts");
    return [];
  }
  const content = message["content"] ?? message["result"] ?? message["output"];
  return [Array.isArray(content) ? outputOf(id, parts("user", content, losses)) : callOutputItem(id, content ?? "")];
}

function parts(role: MessageItem["role"], content: unknown, losses: Losses): ContentPart[] {
  const blocks = blocksOf(content);
  if (blocks === undefined) losses.count("unknown_parts");
  return (blocks ?? []).flatMap((block) => {
    const fields = typeof block === "string" ? { type: "text", text: block } : fieldsOf(block);
    const text = textOf(fields["text"]);
    if (text !== undefined) return text === "" ? [] : [textPart(role, text)];
    const image = imageOf(fields);
    if (image === undefined) losses.count(String(fields["type"]).includes("image") ? "images" : "unknown_parts");
    return image ?? [];
  });
}

function attachments(message: Fields, losses: Losses): ContentPart[] {
  return Array.isArray(message["attachments"]) ? parts("user", message["attachments"], losses) : [];
}

function imageOf(block: Fields): ContentPart | undefined {
  const url = textOf(block["image_url"]) ?? textOf(fieldsOf(block["image_url"])["url"]);
  if (url !== undefined) return { type: "input_image", image_url: url };
  const source = fieldsOf(block["source"]);
  return imagePart(block["mimeType"] ?? source["media_type"], block["data"] ?? source["data"]);
}
