import {
  chmodSync,
  closeSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { sep } from "node:path";
import type { Head } from "./head.js";
import { isRecord } from "./line-object.js";
import { openFlags } from "./list.js";

/** What a head said about the file with this inode when it had this size. */
interface CachedHead {
  readonly inode: number;
  readonly size: number;
  readonly head: Head;
}

const version = 1;
/** Some eighty thousand conversations. */
const maxCacheBytes = 16 * 1024 * 1024;

/**
 * What `cody list` read the last time, so that it need not open a thousand files again. Only a cache: rollouts are
 * appended to and never rewritten, so the head of a file stays what it was; without it everything is read.
 */
export class HeadCache {
  readonly #path: string;
  readonly #old: ReadonlyMap<string, CachedHead>;
  readonly #new = new Map<string, CachedHead>();
  #changed = false;

  constructor(path: string) {
    this.#path = path;
    this.#old = readCache(path);
  }

  /** The head of a file, read only when it is not known or may have changed. */
  get(id: string, { ino, size }: Stats, read: () => Head): Head {
    const cached = this.#old.get(id);
    if (cached !== undefined && isCurrent(cached, ino, size)) {
      this.#new.set(id, cached);
      return cached.head;
    }
    const head = read();
    this.#new.set(id, { inode: ino, size, head });
    this.#changed = true;
    return head;
  }

  /** Replaces the file whole; a directory that cannot be written to has no cache. */
  save(): void {
    if (!this.#changed) return;
    const temporary = `${this.#path}.${process.pid}.tmp`;
    try {
      const entries = [...this.#new].map(([id, { inode, size, head }]) => [id, inode, size, head]);
      writeFileSync(temporary, JSON.stringify({ version, entries }), { mode: 0o600, flag: "wx" });
      chmodSync(temporary, 0o600);
      renameSync(temporary, this.#path);
    } catch {
      rmSync(temporary, { force: true });
    }
  }
}

/** Where it is for a directory that is ours. */
export function headCachePath(directory: string): string {
  return `${directory}${sep}.heads.json`;
}

/** An empty conversation, or a damaged file, may have become another with every byte. */
function isCurrent({ inode, size, head }: CachedHead, currentInode: number, currentSize: number): boolean {
  if (inode !== currentInode) return false;
  return head.empty || head.damaged ? size === currentSize : size <= currentSize;
}

function readCache(path: string): ReadonlyMap<string, CachedHead> {
  try {
    const value: unknown = JSON.parse(readSmallFile(path));
    if (!isRecord(value) || value["version"] !== version || !Array.isArray(value["entries"])) return new Map();
    return new Map(value["entries"].flatMap(entryOf));
  } catch {
    return new Map();
  }
}

/** Nothing when it is too large or no regular file. */
function readSmallFile(path: string): string {
  const fd = openSync(path, openFlags);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > maxCacheBytes) return "";
    const bytes = Buffer.allocUnsafe(stats.size);
    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}

/** None for what no list has written. By hand: loading a schema library would take longer than the list. */
function entryOf(entry: unknown): [id: string, cached: CachedHead][] {
  if (!Array.isArray(entry)) return [];
  const [id, inode, size, value] = entry as unknown[];
  if (typeof id !== "string" || typeof inode !== "number" || typeof size !== "number") return [];
  const head = cachedHead(value);
  return head === undefined ? [] : [[id, { inode, size, head }]];
}

/** Only a head's own fields: others would stand in the list beside the file's name and time. */
function cachedHead(value: unknown): Head | undefined {
  if (!isRecord(value)) return undefined;
  const { createdAt, provider, model, cwd, empty, damaged } = value;
  if (typeof empty !== "boolean" || typeof damaged !== "boolean") return undefined;
  if (createdAt !== undefined && typeof createdAt !== "number") return undefined;
  if (!isOptionalText(provider) || !isOptionalText(model) || !isOptionalText(cwd)) return undefined;
  return {
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(cwd === undefined ? {} : { cwd }),
    empty,
    damaged,
  };
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
