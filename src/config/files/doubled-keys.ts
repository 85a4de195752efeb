/** In a text that is right, a string with a colon behind it is a key. */
const stringToken = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/** Whether a key stands twice in a table of a JSON text: such a text has more keys than its value. */
export function hasDoubledKey(text: string, value: unknown): boolean {
  let keys = 0;
  for (const [, colon] of text.matchAll(stringToken)) if (colon !== undefined) keys += 1;
  return keys > keysIn(value);
}

function keysIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner: unknown[] = Object.values(value);
  return inner.reduce<number>((keys, each) => keys + keysIn(each), Array.isArray(value) ? 0 : inner.length);
}
