import type { ContentPart, ResponseItem } from "../../messages/response-item.js";
import { capFor } from "./level-of.js";
import type { CountItem } from "../strategy.js";
import { truncateMiddle } from "./truncate-middle.js";

type CuttableItem = Extract<ResponseItem, { type: "message" | "function_call_output" | "custom_tool_call_output" }>;

/** Whether the item stays valid when its text is cut; the arguments of a tool call would not. */
export function isCuttable(item: ResponseItem): item is CuttableItem {
  return item.type === "message" || item.type === "function_call_output" || item.type === "custom_tool_call_output";
}

/** Replaces images and audio with placeholder words, because they may be larger than all texts together. */
export function withoutMedia(item: CuttableItem): CuttableItem {
  const content = item.type === "message" ? item.content : item.output;
  if (typeof content === "string" || content.every((part) => "text" in part)) return item;
  return withContent(item, content.map(withoutMedium));
}

/** Cuts the item's longest texts in the middle so that the item has at most `maxTokens` tokens. */
export function cutItem(item: CuttableItem, maxTokens: number, count: CountItem): CuttableItem {
  const plain = withoutMedia(item);
  const tokens = count(plain);
  if (tokens <= maxTokens) return plain;
  const content = plain.type === "message" ? plain.content : plain.output;
  const texts = typeof content === "string" ? [content] : content.map((part) => ("text" in part ? part.text : ""));
  const sizes = texts.map((text) => countText(text, count));
  // The exact count of an item may exceed the estimates for its texts.
  const factor = Math.max(1, tokens / Math.max(1, sum(sizes)));
  const level = Math.floor(capFor(sizes, maxTokens / factor));
  const cut = texts.map((text) => truncateMiddle(text, level, (part) => countText(part, count)));
  if (typeof content === "string") return withContent(plain, cut.join(""));
  return withContent(
    plain,
    content.map((part, index) => ("text" in part ? { ...part, text: cut[index] ?? "" } : part)),
  );
}

function withContent(item: CuttableItem, content: string | ContentPart[]): CuttableItem {
  if (item.type !== "message") return { ...item, output: content };
  return typeof content === "string" ? item : { ...item, content };
}

function withoutMedium(part: ContentPart): ContentPart {
  if ("text" in part) return part;
  return { type: "input_text", text: part.type === "input_image" ? "[image]" : "[audio]" };
}

function countText(text: string, count: CountItem): number {
  return count({ type: "message", role: "user", content: [{ type: "input_text", text }] });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
