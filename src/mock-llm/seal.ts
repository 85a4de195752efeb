import { createHash } from "node:crypto";

// What only the server that wrote it accepts back, for the model that thought it: a client that mixes up providers or
// models is refused, as by the real ones.

/** The signature of a thinking block. */
export function signatureOf(thinking: string, model: string): string {
  return `Eo${digest(`thinking\n${model}\n${thinking}`)}`;
}

/** The data of a block of thinking that nobody may read. */
export function redactedData(thinking: string, model: string): string {
  const text = Buffer.from(thinking);
  return `EmwK${text.toString("base64")}.${digest(`redacted\n${model}\n${text.toString()}`)}`;
}

/** Whether this model has written the data. */
export function isRedactedData(data: string, model: string): boolean {
  const [, text = ""] = /^EmwK(.+)\.[^.]+$/.exec(data) ?? [];
  return text !== "" && data === redactedData(Buffer.from(text, "base64").toString(), model);
}

/** The opaque content of a reasoning item. */
export function sealed(itemId: string, model: string): string {
  return `gAAAAA${itemId}.${digest(`reasoning\n${model}\n${itemId}`)}`;
}

/** The id of the item whose content this model has sealed; undefined when it has not. */
export function sealedItem(content: string, model: string): string | undefined {
  const [, itemId = ""] = /^gAAAAA(.+)\.[^.]+$/.exec(content) ?? [];
  return itemId !== "" && content === sealed(itemId, model) ? itemId : undefined;
}

export function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
