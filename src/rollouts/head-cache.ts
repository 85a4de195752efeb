import { readFileSync, renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { sep } from "node:path";
import type { Head } from "./head.js";
import { isRecord } from "./line-object.js";

/** What a head said about the file with this inode when it had this size. */
interface CachedHead {
  readonly inode: number;
  readonly size: number;
  readonly head: Head;
}

const version = 1;

/**
 * What `cody list` read the last time, so that it need not open a thousand files again. Only a cache: rollouts are
 * appended to and never rewritten, so the head of a file stays what it was; without it everything is read.
 */
export class HeadCache {
  readonly #path: string;
  readonly #old: ReadonlyMap<string, CachedHead>;
  readonly #new = new Map<string, CachedHead>();
  #changed = false;

  constructor(directory: string) {
    this.#path = `${directory}${sep}.heads.json`;
    this.#old = readCache(this.#path);
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
      renameSync(temporary, this.#path);
    } catch {
      rmSync(temporary, { force: true });
    }
  }
}

/** An empty conversation, or a damaged file, may have become another with every byte. */
function isCurrent({ inode, size, head }: CachedHead, currentInode: number, currentSize: number): boolean {
  if (inode !== currentInode) return false;
  return head.empty || head.damaged ? size === currentSize : size <= currentSize;
}

function readCache(path: string): ReadonlyMap<string, CachedHead> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!isRecord(value) || value["version"] !== version || !Array.isArray(value["entries"])) return new Map();
    const entries = value["entries"] as [string, number, number, Head][];
    return new Map(entries.map(([id, inode, size, head]) => [id, { inode, size, head }]));
  } catch {
    return new Map();
  }
}
