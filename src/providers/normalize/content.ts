import type { ContentPart, MessageItem, ToolOutputContent } from "../../messages/response-item.js";

/** An image all three APIs take: at an address, or inline with group 1 its media type and its data behind the match. */
export const sendableImage = /^(?:https:\/\/(?=\S)|data:(image\/(?:png|jpeg|gif|webp));base64,(?=[A-Za-z0-9+/]))/;

/** The parts of a message that a role may say, without empty ones. */
export function sentParts(parts: readonly ContentPart[], role: MessageItem["role"]): ContentPart[] {
  const type = role === "assistant" ? "output_text" : "input_text";
  return parts.flatMap((part) => sentPart(part, type, role === "user"));
}

/** What a tool gave back; an output may be empty, a part of it may not. */
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
  // Messages refuses a text of blanks just like an empty one.
  if (part.text.trim() === "") return [];
  // Half of a character, left by a cut, is no JSON to a server.
  const text = part.text.toWellFormed();
  return [part.type === type && part.text === text ? part : { type, text }];
}
