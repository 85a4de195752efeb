const bytesPerToken = 4;

/** Codex's estimate: one token per four bytes of UTF-8. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** Keeps the head and tail of a text that is too long; the marker between them is not counted. */
export function cutMiddle(text: string, tokens: number): string {
  const bytes = Buffer.from(text);
  const budget = tokens * bytesPerToken;
  if (bytes.length <= budget) return text;
  const head = borderBefore(bytes, Math.floor(budget / 2));
  const tail = borderAfter(bytes, bytes.length - (budget - Math.floor(budget / 2)));
  const removed = Math.ceil((tail - head) / bytesPerToken);
  return `${bytes.toString("utf8", 0, head)}…${removed} tokens truncated…${bytes.toString("utf8", tail)}`;
}

function borderBefore(bytes: Buffer, index: number): number {
  let border = index;
  while (border > 0 && isContinuation(bytes[border])) border -= 1;
  return border;
}

function borderAfter(bytes: Buffer, index: number): number {
  let border = index;
  while (border < bytes.length && isContinuation(bytes[border])) border += 1;
  return border;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
