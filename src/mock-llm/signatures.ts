import { createHash } from "node:crypto";

// Opaque content that is accepted back only by the same server and for the same model: a client that mixes up providers
// or models is refused, as by the real APIs.
/** The signature of a thinking block. */
export function signatureOf(thinking: string, model: string): string {
  return `Eo${digest(`thinking\n${model}\n${thinking}`)}`;
}

/** The data of a redacted thinking block. */
export function redactedData(thinking: string, model: string): string {
  const text = Buffer.from(thinking);
  return `EmwK${text.toString("base64")}.${digest(`redacted\n${model}\n${text.toString()}`)}`;
}

/** Whether this model produced the data. */
export function isRedactedData(data: string, model: string): boolean {
  const [, text = ""] = /^EmwK(.+)\.[^.]+$/.exec(data) ?? [];
  return text !== "" && data === redactedData(Buffer.from(text, "base64").toString(), model);
}

/** The encrypted content of a reasoning item. */
export function encryptedContent(itemId: string, model: string): string {
  return `gAAAAA${itemId}.${digest(`reasoning\n${model}\n${itemId}`)}`;
}

/** The id of the item whose content this model encrypted; undefined if it did not. */
export function decryptedItemId(content: string, model: string): string | undefined {
  const [, itemId = ""] = /^gAAAAA(.+)\.[^.]+$/.exec(content) ?? [];
  return itemId !== "" && content === encryptedContent(itemId, model) ? itemId : undefined;
}

export function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
