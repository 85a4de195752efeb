/** Position in a list: after the conversation with this key and id, in this order. */
export interface Cursor {
  readonly order: string;
  readonly key: number | string | null;
  readonly id: string;
}

/** Encodes a cursor opaquely, so that callers do not parse or construct one. */
export function cursorText({ order, key, id }: Cursor): string {
  return Buffer.from(JSON.stringify([order, key, id])).toString("base64url");
}

/** Returns undefined for an invalid cursor. */
export function parsedCursor(text: string): Cursor | undefined {
  const value = valueIn(text);
  if (!Array.isArray(value) || value.length !== 3) return undefined;
  const [order, key, id] = value as unknown[];
  if (typeof order !== "string" || typeof id !== "string") return undefined;
  return typeof key === "string" || typeof key === "number" || key === null ? { order, key, id } : undefined;
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}
