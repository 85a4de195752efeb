import { borderAfter, borderBefore } from "../../base/text/truncate.js";
import { estimateTokens } from "../tokens/estimate-tokens.js";

const maxRounds = 8;

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
  let kept = text.length;
  let cut = text;
  for (let round = 0; round < maxRounds && tokens > maxTokens; round++) {
    kept = Math.floor((kept * Math.max(0, maxTokens)) / tokens);
    const shorter = withoutMiddle(text, kept);
    // A marker longer than the text it replaces would gain nothing.
    if (shorter.length >= cut.length) break;
    cut = shorter;
    if (!hasRoomForMarker(text, kept)) break;
    tokens = countTokens(cut);
  }
  return cut;
}

function withoutMiddle(text: string, kept: number): string {
  const room = hasRoomForMarker(text, kept) ? kept - marker(text.length).length : Math.floor(kept * 0.8);
  const head = borderBefore(text, Math.ceil(room / 2));
  const tail = borderAfter(text, text.length - Math.floor(room / 2));
  return text.slice(0, head) + marker(tail - head) + text.slice(tail);
}

function hasRoomForMarker(text: string, kept: number): boolean {
  return marker(text.length).length <= kept * 0.2;
}

function marker(removed: number): string {
  return `\n\n[... ${removed} characters truncated ...]\n\n`;
}
