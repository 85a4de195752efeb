import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { bareId } from "../../messages/conversation-id.js";
import type { Source } from "./source.js";

const digestBytes = 64 * 1024;
const newline = 0x0a;

/** How a conversation is called where it comes from, and which ids it may get here, the first that is free. */
export interface SourceId {
  readonly key: string;
  readonly candidates: readonly string[];
}

/** Always the same for the same source, so that it is known when it comes again. */
export async function sourceId(source: Source): Promise<SourceId> {
  const own = bareId(source.facts.id?.toLowerCase() ?? "");
  const isUnique = uuid.test(own);
  // Any other name may be that of several.
  const key = isUnique ? own : await digestOf(source);
  const derived = uuidOf(`cody import\0${source.format}\0${key}`);
  return { key, candidates: isUnique ? [own, derived] : [derived] };
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** How it begins. Of lines the first one counts, for what is added at the end does not make another one of it. */
async function digestOf({ file: { path }, format }: Source): Promise<string> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(digestBytes), 0, digestBytes, 0);
    const end = format === "json" ? -1 : buffer.indexOf(newline);
    const head = buffer.subarray(0, end === -1 ? bytesRead : end);
    return createHash("sha256").update(head).digest("hex");
  } finally {
    await file.close();
  }
}

/** A UUID of version 8, made of a hash. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join("-");
}
