import type { ContentPart, ResponseItem } from "../../messages/response-item.js";
import { countedText } from "./estimate-tokens.js";

/** Tokens Codex assumes for an inline image; the size of its data says nothing about its tokens. */
export const imageTokens = 1_844;

export interface CountedItem {
  readonly text: string;
  readonly images: number;
}

/** Splits an item into the text to count and the number of images and audio parts. */
export function countedItem(item: ResponseItem): CountedItem {
  const parts = partsOf(item);
  const images = parts?.filter(isImage).length ?? 0;
  return { text: countedText(images === 0 ? item : withoutImages(item)), images };
}

function partsOf(item: ResponseItem): readonly ContentPart[] | undefined {
  if (item.type === "message") return item.content;
  if (item.type !== "function_call_output" && item.type !== "custom_tool_call_output") return undefined;
  return typeof item.output === "string" ? undefined : item.output;
}

function withoutImages(item: ResponseItem): ResponseItem {
  const texts = (partsOf(item) ?? []).filter((part) => !isImage(part));
  if (item.type === "message") return { ...item, content: texts };
  return "output" in item ? { ...item, output: texts } : item;
}

function isImage(part: ContentPart): boolean {
  return part.type === "input_image" || part.type === "input_audio";
}
