import type { ContentPart, MessageItem, ToolOutputContent } from "../../messages/response-item.js";

/**
 * An image that all three APIs accept: a URL, or inline data. For inline data, group 1 is the media type and the data
 * follows the match.
 */
export const sendableImage = /^(?:https:\/\/(?=\S)|data:(image\/(?:png|jpeg|gif|webp));base64,(?=[A-Za-z0-9+/]))/;

/** The non-empty parts of a message, in the form its role may use. */
export function sentParts(parts: readonly ContentPart[], role: MessageItem["role"]): ContentPart[] {
  const type = role === "assistant" ? "output_text" : "input_text";
  return parts.flatMap((part) => sentPart(part, type, role === "user"));
}

/** Converts a tool output. The output may be empty, but none of its parts may be. */
export function sentOutput(output: ToolOutputContent): ToolOutputContent {
  if (typeof output === "string") return output.toWellFormed();
  const parts = output.flatMap((part) => sentPart(part, "input_text", true));
  return parts.length === 0 ? "" : parts;
}

function sentPart(part: ContentPart, type: "input_text" | "output_text", imagesAllowed: boolean): ContentPart[] {
  if (part.type === "input_image") {
    return [imagesAllowed && sendableImage.test(part.image_url) ? part : { type, text: "[image left out]" }];
  }
  if (part.type === "input_audio") return [{ type, text: "[audio left out]" }];
  // The Messages API rejects blank texts just like empty ones.
  if (part.text.trim() === "") return [];
  // A lone surrogate, left by truncation, is invalid JSON for some servers.
  const text = part.text.toWellFormed();
  return [part.type === type && part.text === text ? part : { type, text }];
}
