import { closeSync, lstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { basename, sep } from "node:path";
import { readFlags } from "../../base/fs/open-regular.js";
import { idFromFileName } from "../layout.js";
import { type CacheHeader, knownFile, type KnownFile, parsedHeader, updatedAt } from "./head-cache-lines.js";
import type { ConversationSummary } from "./list.js";

/** The conversation after which a page begins. */
export interface ListPosition {
  readonly updatedAt: number;
  readonly id: string;
}

/** A page of conversations, and their total number. */
export interface ConversationPage {
  readonly conversations: readonly ConversationSummary[];
  readonly total: number;
}

interface KnownListOptions {
  readonly limit?: number;
  readonly after?: ListPosition;
}

const chunkBytes = 64 * 1024;
const newline = 0x0a;

/**
 * Returns a page from the cache of the last list if it is still valid: no folder has changed, so no lock was taken
 * and no file created since, and all shown and previously open files are unchanged. Returns undefined otherwise.
 */
export function cachedPage(
  directory: string,
  cache: string,
  { limit = Number.POSITIVE_INFINITY, after }: KnownListOptions,
): ConversationPage | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(cache, readFlags);
    const lines = linesOf(fd);
    const header = parsedHeader(lines.next().value ?? "");
    if (header === undefined || !isCurrent(directory, header)) return undefined;
    const conversations: ConversationSummary[] = [];
    let unread = header.count;
    for (const line of lines) {
      if (conversations.length >= limit) break;
      unread -= 1;
      const file = cachedFile(line);
      if (file === undefined) return undefined;
      if (after !== undefined && !comesAfter(after, file.id, file)) continue;
      const summary = summaryOf(directory, file);
      if (summary === undefined) return undefined;
      conversations.push(summary);
    }
    // Something has cut off the end of the cache.
    if (conversations.length < limit && unread > 0) return undefined;
    return { conversations, total: header.count };
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

export function comesAfter(after: ListPosition, id: string, stats: Pick<Stats, "mtimeMs">): boolean {
  const time = updatedAt(stats);
  return time < after.updatedAt || (time === after.updatedAt && id < after.id);
}

/** A file in the cache, with the id in its name. */
export type CachedFile = KnownFile & { readonly id: string };

/** Parses a line of the cache; undefined if it is invalid, or if its name leads out of the directory. */
export function cachedFile(line: string): CachedFile | undefined {
  const known = knownFile(line);
  if (known === undefined || known.name.split(sep).includes("..")) return undefined;
  const id = idFromFileName(basename(known.name));
  return id === undefined ? undefined : { ...known, id };
}

function isCurrent(directory: string, { folders, open }: CacheHeader): boolean {
  if (folders.length === 0) return false;
  return (
    folders.every(([name, mtimeMs]) => statSync(directory + name).mtimeMs === mtimeMs) &&
    open.every(([name, inode, size, mtimeMs]) => isUnchangedSince(directory, { name, inode, size, mtimeMs }))
  );
}

function summaryOf(directory: string, file: CachedFile): ConversationSummary | undefined {
  const { id, name, size, head } = file;
  if (head === undefined || !isUnchangedSince(directory, file)) return undefined;
  return { id, path: directory + sep + name, updatedAt: updatedAt(file), size, ...head };
}

function isUnchangedSince(directory: string, { name, inode, size, mtimeMs }: Omit<KnownFile, "head">): boolean {
  const stats = lstatSync(directory + sep + name, { throwIfNoEntry: false });
  return stats?.ino === inode && stats.size === size && stats.mtimeMs === mtimeMs;
}

/** Yields lines and reads no more of the file than the caller consumes. */
function* linesOf(fd: number): Generator<string, undefined> {
  let rest: Buffer = Buffer.of();
  for (;;) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const bytes = Buffer.concat([rest, chunk.subarray(0, readSync(fd, chunk))]);
    if (bytes.length === rest.length) return undefined;
    let from = 0;
    for (let to = bytes.indexOf(newline); to !== -1; to = bytes.indexOf(newline, from)) {
      yield bytes.toString("utf8", from, to);
      from = to + 1;
    }
    rest = bytes.subarray(from);
  }
}

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
