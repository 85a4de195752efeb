import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { bareId } from "../../../base/text/conversation-id.js";
import type { Source } from "./source.js";

/** A key for a conversation in its source, and candidate ids here, of which the first free one is used. */
export interface SourceId {
  readonly key: string;
  /** The UUID in the source, if there is one. */
  readonly own?: string;
  readonly candidates: readonly string[];
}

/** Deterministic for the same source, so that a repeated import is recognized. */
export async function sourceId(source: Source): Promise<SourceId> {
  const own = bareId(source.facts.id?.toLowerCase() ?? "");
  const isUnique = uuid.test(own);
  const key = isUnique ? own : await digestOf(source);
  const derived = uuidOf(`cody import\0${source.format}\0${key}`);
  return isUnique ? { key, own, candidates: [own, derived] } : { key, candidates: [derived] };
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Hashes the source's own id with its creation time: ids that are not UUIDs may repeat, but not at the same time, and
 * the result stays the same when the source grows. Without both, hashes the whole content, because two sources may
 * begin alike.
 */
async function digestOf({ file: { path, bytes }, facts: { id, createdAt } }: Source): Promise<string> {
  const hash = createHash("sha256");
  if (id !== undefined && createdAt !== undefined) return hash.update(`${id}\0${createdAt}`).digest("hex");
  for await (const chunk of createReadStream(path, { end: bytes - 1 })) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/** Builds a version 8 UUID from a hash. */
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
