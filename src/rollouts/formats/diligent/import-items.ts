import type { ContentPart, ResponseItem } from "../../../messages/response-item.js";
import { answered, called, said } from "../lines/form-items.js";
import { entryThought } from "./thought.js";
import { type Fields, fieldsOf, saidText, textOf } from "../import/fields.js";
import type { Losses } from "../import/losses.js";
import { blocksOf, imagePart, messageOf, outputOf, shellCommand, textPart, told } from "../import/parts.js";

/** What a message in an entry of a tree says, whether Diligent wrote it or any version of pi. */
export function entryItems(message: Fields, losses: Losses): ResponseItem[] {
  switch (message["role"]) {
    case "user":
      return messageOf("user", inputParts(message["content"], losses));
    case "assistant":
      return assistantItems(message, losses);
    case "tool_result":
    case "toolResult":
      return resultItems(message, losses);
    case "bashExecution":
      if (message["excludeFromContext"] !== true) return [shellCommand(message)];
      losses.count("excluded");
      return [];
    case "custom":
    case "hookMessage":
      return toldItems(message["content"], losses);
    case "branchSummary":
    case "compactionSummary":
      return summaryTold(message["summary"], losses);
    default:
      losses.count("unknown_parts");
      return [];
  }
}

/** What an extension told the model, which nobody said. */
export function toldItems(content: unknown, losses: Losses): ResponseItem[] {
  const parts = inputParts(content, losses);
  const texts = parts.flatMap((part) => ("text" in part ? [part.text] : []));
  losses.count("images", parts.length - texts.length);
  return texts.map(told);
}

export function summaryTold(summary: unknown, losses: Losses): ResponseItem[] {
  const text = saidText(summary);
  if (text !== undefined) return [told(`[Summary of another branch]\n${text}`)];
  losses.count("unknown_parts");
  return [];
}

function assistantItems(message: Fields, losses: Losses): ResponseItem[] {
  if (message["usage"] !== undefined) losses.count("usage");
  if (saidText(message["errorMessage"]) !== undefined) losses.count("errors");
  const blocks = blocksOf(message["content"]);
  if (blocks === undefined) losses.count("unknown_parts");
  return (blocks ?? []).flatMap((block) => {
    const item = blockItem(fieldsOf(block), message, losses);
    if (item === undefined) losses.count("unknown_parts");
    return item ?? [];
  });
}

function blockItem(block: Fields, message: Fields, losses: Losses): ResponseItem | ResponseItem[] | undefined {
  const { type, text, id, name } = block;
  if (type === "text" && typeof text === "string") return text === "" ? [] : said("assistant", text);
  if (type === "thinking") return entryThought(block, message, losses);
  if ((type !== "tool_call" && type !== "toolCall") || typeof id !== "string" || typeof name !== "string") {
    return undefined;
  }
  return called(callId(id), name, block["arguments"] ?? block["input"]);
}

function resultItems(message: Fields, losses: Losses): ResponseItem[] {
  const { toolCallId, content, output } = message;
  if (typeof toolCallId !== "string") {
    losses.count("unknown_parts");
    return [];
  }
  if (message["details"] !== undefined) losses.count("tool_details");
  if (message["isError"] === true) losses.count("error_marks");
  if (content === undefined) return [answered(callId(toolCallId), output)];
  return [outputOf(callId(toolCallId), inputParts(content, losses))];
}

/** What a person or a tool gives. */
function inputParts(content: unknown, losses: Losses): ContentPart[] {
  const blocks = blocksOf(content);
  if (blocks === undefined) losses.count("unknown_parts");
  return (blocks ?? []).flatMap((block) => {
    const { type, text, data, mimeType } = fieldsOf(block);
    if (type === "text" && typeof text === "string") return text === "" ? [] : [textPart("user", text)];
    const image = type === "image" ? imagePart(mimeType, data) : undefined;
    if (image === undefined) losses.count(type === "image" ? "images" : "unknown_parts");
    return image === undefined ? [] : [image];
  });
}

/** With the Responses API pi puts the id of the item behind that of the call. */
function callId(id: string): string {
  const [call] = id.split("|");
  return textOf(call) || id;
}
