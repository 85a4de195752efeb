import { chmodSync, renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { sep } from "node:path";
import { readRegularSync } from "../../base/fs/open-regular.js";
import type { Head } from "./head.js";
import { type CacheHeader, headerLine, isCacheHeader, lineOf, startOf, knownFile } from "./head-cache-lines.js";

/** A file's current state; the name is relative to the directory. */
export interface SeenFile {
  readonly name: string;
  readonly stats: Pick<Stats, "ino" | "size" | "mtimeMs">;
}

/** Enough for some hundred thousand conversations. */
const maxCacheBytes = 32 * 1024 * 1024;

/**
 * Caches the heads that `cody list` read last time, so that it need not open a thousand files again: one line per
 * file, newest first. Rollouts are only appended to, so the head of a file stays valid except for the model of its
 * last turn. Without the cache everything is read again.
 */
export class HeadCache {
  readonly #path: string;
  readonly #header: string | undefined;
  readonly #old = new Map<string, string>();
  /** Heads that were read because the cache did not have them. */
  readonly #read = new Map<string, Head>();

  constructor(path: string) {
    this.#path = path;
    const [header, ...lines] = cacheLines(path);
    this.#header = header;
    for (const line of lines) {
      const name = nameIn(line);
      if (name !== undefined) this.#old.set(name, line);
    }
  }

  /** Returns the head of a file and reads it only if it is unknown or may have changed; `read` gets the known part. */
  get({ name, stats }: SeenFile, read: (known: Head | undefined) => Head): Head {
    const known = this.#known(name, stats);
    if (known?.size === stats.size) return known.head;
    const head = read(known?.head);
    this.#read.set(name, head);
    return head;
  }

  /** Replaces the cache file atomically if its content changed; failures to write are ignored. */
  save(files: readonly SeenFile[], header: Omit<CacheHeader, "count">): void {
    const first = headerLine({ ...header, count: files.length });
    let changed = first !== this.#header || files.length !== this.#old.size;
    const lines = files.map(({ name, stats }) => {
      const old = this.#old.get(name);
      const head = this.#read.get(name);
      if (head === undefined && old?.startsWith(startOf(name, stats)) === true) return old;
      changed = true;
      // A file that has grown may have another model now, so only a head of the same size is reused.
      const known = this.#known(name, stats);
      return lineOf(name, stats, head ?? (known?.size === stats.size ? known.head : undefined));
    });
    if (!changed) return;
    const temporary = `${this.#path}.${process.pid}.tmp`;
    try {
      writeFileSync(temporary, `${[first, ...lines].join("\n")}\n`, { mode: 0o600, flag: "wx" });
      chmodSync(temporary, 0o600);
      renameSync(temporary, this.#path);
    } catch {
      rmSync(temporary, { force: true });
    }
  }

  #known(name: string, { ino, size }: SeenFile["stats"]): { readonly head: Head; readonly size: number } | undefined {
    const line = this.#old.get(name);
    const known = line === undefined ? undefined : knownFile(line);
    if (known?.head === undefined || known.inode !== ino) return undefined;
    // In an empty conversation or a damaged file, every new byte may change the head.
    const { empty, damaged } = known.head;
    const isUsable = empty || damaged ? known.size === size : known.size <= size;
    return isUsable ? { head: known.head, size: known.size } : undefined;
  }
}

/** Returns the default cache path, which is inside the directory itself. */
export function headCachePath(directory: string): string {
  return `${directory}${sep}.heads.json`;
}

/** Extracts the name without parsing the line, because most lines are not used further. */
function nameIn(line: string): string | undefined {
  const text = /^\[("(?:[^"\\]|\\.)*"),/.exec(line)?.[1];
  return text?.includes("\\") === true ? String(JSON.parse(text)) : text?.slice(1, -1);
}

function cacheLines(path: string): string[] {
  try {
    const lines = readRegularSync(path, { links: "refuse", maxBytes: maxCacheBytes }).toString().split("\n");
    return isCacheHeader(lines[0]) ? lines.filter((line) => line !== "") : [];
  } catch {
    return [];
  }
}
