import type { ContentPart, ItemOrigin, ResponseItem } from "../../../messages/response-item.js";
import { called, said, thought } from "../lines/form-items.js";
import { type Fields, fieldsOf, textOf } from "../import/fields.js";
import type { Losses } from "../import/losses.js";
import { blocksOf, imagePart, messageOf, outputOf, textPart } from "../import/parts.js";

/** What one line of a message of the model says. */
export function modelItems(message: Fields, losses: Losses): ResponseItem[] {
  const model = textOf(message["model"]);
  const origin: ItemOrigin | undefined = model === undefined ? undefined : { api: "messages", model };
  const blocks = blocksOf(message["content"]);
  if (blocks === undefined) losses.count("unknown_parts");
  return (blocks ?? []).flatMap((block) => modelBlock(fieldsOf(block), origin, losses));
}

function modelBlock(block: Fields, origin: ItemOrigin | undefined, losses: Losses): ResponseItem[] {
  const { type, text, thinking, data, signature, id, name } = block;
  if (type === "text" && typeof text === "string") return text === "" ? [] : [said("assistant", text)];
  if (type === "tool_use" && typeof id === "string" && typeof name === "string") {
    return [called(id, name, block["input"])];
  }
  if (type === "thinking" && typeof thinking === "string") {
    if (textOf(signature) === undefined || origin === undefined)
      return thinking === "" ? [] : [thought(thinking, undefined)];
    return [{ ...thought(thinking, signature), origin }];
  }
  if (type === "redacted_thinking" && typeof data === "string" && origin !== undefined) {
    return [{ type: "reasoning", summary: [], encrypted_content: data, origin }];
  }
  // Those the provider runs itself, and what came of them.
  const isServers = typeof type === "string" && (type === "server_tool_use" || /^\w+_tool_result$/.test(type));
  losses.count(isServers ? "server_tools" : "unknown_parts");
  return [];
}

/** What a line of the user's side says: outputs of calls first, then what a person said. */
export function userItems(content: unknown, losses: Losses): ResponseItem[] {
  const blocks = blocksOf(content);
  if (blocks === undefined) losses.count("unknown_parts");
  const outputs: ResponseItem[] = [];
  const parts: ContentPart[] = [];
  for (const block of (blocks ?? []).map(fieldsOf)) {
    const { type, tool_use_id: callId } = block;
    if (type === "tool_result" && typeof callId === "string") {
      if (block["is_error"] === true) losses.count("error_marks");
      outputs.push(outputOf(callId, inputParts(blocksOf(block["content"] ?? ""), losses)));
    } else {
      parts.push(...inputParts([block], losses));
    }
  }
  return [...outputs, ...messageOf("user", parts)];
}

function inputParts(blocks: readonly unknown[] | undefined, losses: Losses): ContentPart[] {
  return (blocks ?? []).map(fieldsOf).flatMap((block) => {
    const { type, text } = block;
    if (type === "text" && typeof text === "string") return text === "" ? [] : [textPart("user", text)];
    const image = type === "image" ? imageOf(fieldsOf(block["source"])) : undefined;
    if (image === undefined) losses.count(lostKind(type));
    return image ?? [];
  });
}

function lostKind(type: unknown): "images" | "documents" | "unknown_parts" {
  if (type === "image") return "images";
  return type === "document" ? "documents" : "unknown_parts";
}

function imageOf({ type, media_type: mediaType, data, url }: Fields): ContentPart | undefined {
  if (type === "url" && typeof url === "string") return { type: "input_image", image_url: url };
  return type === "base64" ? imagePart(mediaType, data) : undefined;
}
