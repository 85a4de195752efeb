/** A number of tokens for people: 950, 1.2k, 142k, 1.2M. */
export function tokenText(tokens: number): string {
  if (tokens < 1_000) return `${tokens}`;
  // A number that would be rounded to 1000k is shown as 1M.
  return tokens < 999_500 ? `${short(tokens / 1_000)}k` : `${short(tokens / 1_000_000)}M`;
}

function short(number: number): string {
  return number < 9.95 ? number.toFixed(1).replace(/\.0$/, "") : number.toFixed(0);
}

export function compactedText(before: number, after: number): string {
  return `Context compacted: ${tokenText(before)} → ${tokenText(after)} tokens`;
}
