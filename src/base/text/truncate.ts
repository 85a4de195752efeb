const bytesPerToken = 4;

/**
 * Ways to cut a text that is too long, none of which splits a character. `BoundedOutput` does the same for a stream.
 * Compaction's `truncateMiddle` is different: it counts with a tokenizer and includes its marker in the budget.
 */

/** Cuts a text to at most `maxChars` and appends `…`. Never splits a surrogate pair. */
export function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const isPairCut = isFirstOfPair(text.charCodeAt(maxChars - 1));
  return `${text.slice(0, isPairCut ? maxChars - 1 : maxChars)}…`;
}

function isFirstOfPair(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

/** Codex's estimate: one token per four bytes of UTF-8. */
export function estimatedTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/**
 * Keeps the head and tail of a text with more than `tokens` estimated tokens, with the marker that Codex writes
 * between them. The marker is not counted.
 */
export function cutMiddle(text: string, tokens: number): string {
  const bytes = Buffer.from(text);
  const budget = tokens * bytesPerToken;
  if (bytes.length <= budget) return text;
  const half = Math.floor(budget / 2);
  const head = half - unfinishedBytes(bytes.subarray(0, half));
  const rest = bytes.length - (budget - half);
  const tail = rest + leftoverBytes(bytes.subarray(rest));
  const removed = Math.ceil((tail - head) / bytesPerToken);
  return `${bytes.toString("utf8", 0, head)}…${removed} tokens truncated…${bytes.toString("utf8", tail)}`;
}

/** Moves a position inside a surrogate pair to the start of the pair. */
export function borderBefore(text: string, position: number): number {
  return isInsidePair(text, position) ? position - 1 : position;
}

/** Moves a position inside a surrogate pair to the end of the pair. */
export function borderAfter(text: string, position: number): number {
  return isInsidePair(text, position) ? position + 1 : position;
}

function isInsidePair(text: string, position: number): boolean {
  return (text.codePointAt(position - 1) ?? 0) > 0xffff;
}

/** The number of bytes at the end (0 to 3) that start an incomplete UTF-8 character. */
export function unfinishedBytes(bytes: Uint8Array): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count += 1) {
    const byte = bytes[bytes.length - count] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthFrom(byte) > count ? count : 0;
  }
  return 0;
}

/** The number of bytes at the start (0 to 3) that belong to a character begun in an earlier chunk. */
export function leftoverBytes(bytes: Uint8Array): number {
  const end = bytes.subarray(0, 3).findIndex((byte) => !isContinuation(byte));
  return end === -1 ? Math.min(3, bytes.length) : end;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** The length of the UTF-8 character that starts with this byte; 1 for bytes that start none. */
function lengthFrom(byte: number): number {
  if (byte >= 0xf0 && byte < 0xf8) return 4;
  if (byte >= 0xe0) return byte < 0xf0 ? 3 : 1;
  return byte >= 0xc0 ? 2 : 1;
}
