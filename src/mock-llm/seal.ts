import { createHash } from "node:crypto";

// What only the server that wrote it accepts back: a client that mixes up providers is refused, as by the real ones.

/** The signature of a thinking block. */
export function signatureOf(thinking: string): string {
  return `Eo${digest(`thinking\n${thinking}`)}`;
}

/** The opaque content of a reasoning item. */
export function sealed(itemId: string): string {
  return `gAAAAA${itemId}.${digest(`reasoning\n${itemId}`)}`;
}

export function isSealed(content: string): boolean {
  const [, itemId = ""] = /^gAAAAA(.+)\.[^.]+$/.exec(content) ?? [];
  return itemId !== "" && content === sealed(itemId);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
