import { borderBefore } from "../../base/text/truncate.js";
import type { ResponseItem, ToolOutputContent, ContentPart } from "../../messages/response-item.js";

/** Tokens Codex assumes for an inline image; the size of its data says nothing about its tokens. */
export const imageTokens = 1_844;

/**
 * Models with a public encoding are counted exactly. For others the count is multiplied by a ratio learned from
 * usage.
 */
const isPublic = /(?:^|[/:])(?:gpt-|chatgpt-|o\d|text-embedding|codex)/;

/** Measured for English. Other texts differ more, but the first reported usage corrects the ratio. */
const firstGuess = { claude: 1.15, other: 1 };

/** Smaller counts reflect overhead more than the encoding. */
const minCounted = 200;

const [lowest, highest] = [0.5, 3];

/** Matches GPT-3.5 and the first GPT-4; all later models, including 4o, 4.1 and 4.5, use the larger vocabulary. */
const older = /(?:^|[/:])gpt-(?:3\.5|35|4)(?=$|-)/;

/** Number of characters before the limit that are searched for a seam. */
const window = 4096;

/** No encoding forms a token across these seams, so the counts of the parts add up to the count of the whole. */
const tokenBoundaries = /\p{L}(?= \p{L})|\n(?=\p{L})/gu;

const charsPerToken = 4;

/** Cheap estimate for the main thread, which must not load a tokenizer. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / charsPerToken);
}

/** Counts everything the model reads in the items: texts, reasoning, tool names, arguments and outputs. */
export function estimateItemTokens(items: readonly ResponseItem[], countTokens: (text: string) => number): number {
  return countTokens(items.map(countedText).join(""));
}

/** Returns the text of an item that is sent to the model. */
function countedText(item: ResponseItem): string {
  switch (item.type) {
    case "message":
      return contentText(item.content);
    case "reasoning":
      return (
        [...item.summary, ...(item.content ?? [])].map((part) => part.text).join("") + (item.encrypted_content ?? "")
      );
    case "function_call":
      return item.name + item.arguments;
    case "custom_tool_call":
      return item.name + item.input;
    case "function_call_output":
    case "custom_tool_call_output":
      return contentText(item.output);
    case "compaction":
    case "compaction_summary":
      return item.encrypted_content;
    case "context_compaction":
      return item.encrypted_content ?? "";
    case "local_shell_call":
    case "web_search_call":
    case "tool_search_call":
    case "tool_search_output":
    case "image_generation_call":
    case "agent_message":
      return JSON.stringify(item);
    case "ghost_snapshot":
    case "(unknown)":
      break;
  }
  // Snapshots and items of unknown types are never sent to a model.
  return "";
}

/** Joins text parts as they are and other parts as JSON. */
function contentText(content: ToolOutputContent): string {
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? part.text : JSON.stringify(part))).join("");
}

/** Splits a text into parts of at most `maxChars` that can be counted separately; without a seam it cuts anywhere. */
export function splitText(text: string, maxChars: number): string[] {
  const parts: string[] = [];
  let from = 0;
  while (text.length - from > maxChars) {
    const to = cutBefore(text, from, from + maxChars);
    parts.push(text.slice(from, to));
    from = to;
  }
  parts.push(text.slice(from));
  return parts;
}

function cutBefore(text: string, from: number, limit: number): number {
  const start = Math.max(from, limit - window);
  // Reads two characters past the limit, because a seam is recognized by what follows it.
  const ends = [...text.slice(start, limit + 2).matchAll(tokenBoundaries)].map(
    (boundary) => start + boundary.index + boundary[0].length,
  );
  const end = ends.findLast((place) => place <= limit);
  return end ?? borderBefore(text, limit);
}

/** A tokenizer vocabulary shared by a family of models. */
export type Encoding = "cl100k_base" | "o200k_base";

/** Returns a model's encoding, or the closest one for models without a public encoding. */
export function encodingOf(model: string): Encoding {
  return older.test(model) ? "cl100k_base" : "o200k_base";
}

export function firstRatio(model: string): number {
  return /claude/i.test(model) ? firstGuess.claude : firstGuess.other;
}

/** Averages the known ratio with the one implied by the token usage a provider reported for `counted` tokens. */
export function learnedRatio(model: string, ratio: number, counted: number, reported: number): number {
  if (isPublic.test(model) || counted < minCounted || reported <= 0) return ratio;
  const seen = Math.min(Math.max(reported / counted, lowest), highest);
  return (ratio + seen) / 2;
}

interface CountedItem {
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
