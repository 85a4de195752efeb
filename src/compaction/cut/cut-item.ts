import { borderAfter, borderBefore } from "../../base/text/truncate.js";
import type { ContentPart, ResponseItem, MessageItem } from "../../messages/response-item.js";
import { MIN_CUT_TOKENS, COMPACT_USER_MESSAGE_MAX_TOKENS } from "../constants.js";
import type { CountItem } from "../strategy.js";
import { estimateTokens } from "../tokens/estimate-tokens.js";

const maxRounds = 8;

type CuttableItem = Extract<ResponseItem, { type: "message" | "function_call_output" | "custom_tool_call_output" }>;

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

/** Replaces images and audio with placeholder words, because they may be larger than all texts together. */
export function withoutMedia(item: CuttableItem): CuttableItem {
  const content = item.type === "message" ? item.content : item.output;
  if (typeof content === "string" || content.every((part) => "text" in part)) return item;
  return withContent(item, content.map(withoutMedium));
}

function withoutMedium(part: ContentPart): ContentPart {
  if ("text" in part) return part;
  return { type: "input_text", text: part.type === "input_image" ? "[image]" : "[audio]" };
}

/** Whether the item stays valid when its text is cut; the arguments of a tool call would not. */
export function isCuttable(item: ResponseItem): item is CuttableItem {
  return item.type === "message" || item.type === "function_call_output" || item.type === "custom_tool_call_output";
}

function countText(text: string, count: CountItem): number {
  return count({ type: "message", role: "user", content: [{ type: "input_text", text }] });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}

interface NewestOptions {
  readonly budget: number;
  readonly count: CountItem;
  /** Keeps the last message even if the budget is too small and it must be cut. */
  readonly keepLast: boolean;
}

/**
 * Returns the newest messages that fit the budget, in order. A message that does not fit loses its images first; the
 * first whose text still does not fit is cut in the middle, and all older messages are dropped.
 */
export function keepNewest(
  messages: readonly MessageItem[],
  { budget, count, keepLast }: NewestOptions,
): MessageItem[] {
  const kept: MessageItem[] = [];
  let left = keepLast ? Math.max(budget, MIN_CUT_TOKENS) : budget;
  for (const message of messages.toReversed()) {
    const fitting = count(message) <= left ? message : (withoutMedia(message) as MessageItem);
    const tokens = count(fitting);
    if (tokens > left) {
      if (left >= MIN_CUT_TOKENS) kept.push(cutItem(fitting, left, count) as MessageItem);
      break;
    }
    kept.push(fitting);
    left -= tokens;
  }
  return kept.toReversed();
}

/** Returns the cap on every size that makes the total fit the budget, or `Infinity` if it already fits. */
export function capFor(sizes: readonly number[], budget: number): number {
  let left = budget;
  for (const [index, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = left / (sizes.length - index);
    if (size > share) return Math.max(0, share);
    left -= size;
  }
  return Infinity;
}

/**
 * Shortens a text that has too many tokens to its beginning and end, with a marker between them that states the
 * number of removed characters. The marker counts against the budget, but at most for a fifth of it, so head and tail
 * get at least two fifths each.
 */
export function truncateMiddle(
  text: string,
  maxTokens: number,
  countTokens: (text: string) => number = estimateTokens,
): string {
  let tokens = countTokens(text);
  if (tokens <= maxTokens) return text;
  let keptChars = text.length;
  let cut = text;
  for (let round = 0; round < maxRounds && tokens > maxTokens; round++) {
    keptChars = Math.floor((keptChars * Math.max(0, maxTokens)) / tokens);
    const shorter = withoutMiddle(text, keptChars);
    // A marker longer than the text it replaces would gain nothing.
    if (shorter.length >= cut.length) break;
    cut = shorter;
    if (!hasRoomForMarker(text, keptChars)) break;
    tokens = countTokens(cut);
  }
  return cut;
}

function withoutMiddle(text: string, keptChars: number): string {
  const room = hasRoomForMarker(text, keptChars) ? keptChars - marker(text.length).length : Math.floor(keptChars * 0.8);
  const head = borderBefore(text, Math.ceil(room / 2));
  const tail = borderAfter(text, text.length - Math.floor(room / 2));
  return text.slice(0, head) + marker(tail - head) + text.slice(tail);
}

function hasRoomForMarker(text: string, keptChars: number): boolean {
  return marker(text.length).length <= keptChars * 0.2;
}

function marker(removed: number): string {
  return `\n\n[... ${removed} characters truncated ...]\n\n`;
}

/**
 * Returns the newest messages that fit, in order. The first that does not fit is cut in the middle; older ones are
 * dropped.
 */
export function selectRecentMessages(
  messages: readonly string[],
  maxTokens: number = COMPACT_USER_MESSAGE_MAX_TOKENS,
  countTokens: (text: string) => number = estimateTokens,
): string[] {
  const selected: string[] = [];
  let left = maxTokens;
  for (const message of messages.toReversed()) {
    if (left <= 0) break;
    const tokens = countTokens(message);
    selected.push(tokens <= left ? message : truncateMiddle(message, left, countTokens));
    left -= tokens;
  }
  return selected.toReversed();
}
