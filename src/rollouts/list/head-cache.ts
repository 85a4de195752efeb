import { chmodSync, promises, renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { sep } from "node:path";
import { readRegular, readRegularSync } from "../../base/fs/open-regular.js";
import type { Head } from "./head.js";
import { type CacheHeader, headerLine, isCacheHeader, lineOf, startOf, knownFile } from "./head-cache-lines.js";

/** A file's current state; the name is relative to the directory. */
interface SeenFile {
  readonly name: string;
  readonly stats: Pick<Stats, "ino" | "size" | "mtimeMs">;
}

/** Enough for some hundred thousand conversations. */
const maxCacheBytes = 32 * 1024 * 1024;
const readOptions = { links: "refuse", maxBytes: maxCacheBytes } as const;

/** Makes the names of temporary files unique in this process. */
let temporaries = 0;

/** A head, and the file that it was read from. */
interface ReadHead {
  readonly inode: number;
  readonly size: number;
  readonly head: Head;
}

interface NextCache {
  readonly temporary: string;
  readonly text: string;
  readonly header: string;
  readonly lines: Map<string, string>;
}

/**
 * Caches the heads that `cody list` read last time, so that it need not open a thousand files again: one line per
 * file, newest first. Rollouts are only appended to, so the head of a file stays valid except for the model of its
 * last turn. Without the cache everything is read again.
 */
export class HeadCache {
  readonly #path: string;
  #header: string | undefined;
  #old = new Map<string, string>();
  /** Heads that were read because the cache did not have them. */
  readonly #read = new Map<string, ReadHead>();

  private constructor(path: string, text: string) {
    this.#path = path;
    const [header, ...lines] = linesIn(text);
    this.#header = header;
    for (const line of lines) {
      const name = nameIn(line);
      if (name !== undefined) this.#old.set(name, line);
    }
  }

  static async read(path: string): Promise<HeadCache> {
    const text = await readRegular(path, readOptions).catch(() => "");
    return new HeadCache(path, text.toString());
  }

  /** Synchronous variant for short commands. */
  static readSync(path: string): HeadCache {
    try {
      return new HeadCache(path, readRegularSync(path, readOptions).toString());
    } catch {
      return new HeadCache(path, "");
    }
  }

  /** Returns the head of a file and reads it only if it is unknown or may have changed; `read` gets the known part. */
  get(file: SeenFile, read: (known: Head | undefined) => Head): Head {
    const known = this.known(file);
    if (known?.isCurrent === true) return known.head;
    const head = read(known?.head);
    this.add(file, head);
    return head;
  }

  /** The number of heads that were read since the cache was loaded or saved. */
  get unsaved(): number {
    return this.#read.size;
  }

  /** Adds a head that has just been read. */
  add({ name, stats: { ino, size } }: SeenFile, head: Head): void {
    this.#read.set(name, { inode: ino, size, head });
  }

  /** Replaces the cache file atomically if its content changed; failures to write are ignored. */
  async save(files: readonly SeenFile[], header: CacheOrder): Promise<void> {
    const next = this.#next(files, header);
    if (next === undefined) return;
    try {
      await promises.writeFile(next.temporary, next.text, { mode: 0o600, flag: "wx" });
      await promises.chmod(next.temporary, 0o600);
      await promises.rename(next.temporary, this.#path);
    } catch {
      await promises.rm(next.temporary, { force: true });
      return;
    }
    this.#saved(next);
  }

  /** Synchronous variant for short commands. */
  saveSync(files: readonly SeenFile[], header: CacheOrder): void {
    const next = this.#next(files, header);
    if (next === undefined) return;
    try {
      writeFileSync(next.temporary, next.text, { mode: 0o600, flag: "wx" });
      chmodSync(next.temporary, 0o600);
      renameSync(next.temporary, this.#path);
    } catch {
      rmSync(next.temporary, { force: true });
      return;
    }
    this.#saved(next);
  }

  /** The new content of the cache; undefined if it is that of the file. */
  #next(files: readonly SeenFile[], header: CacheOrder): NextCache | undefined {
    const first = headerLine({ ...header, count: files.length });
    let changed = first !== this.#header || files.length !== this.#old.size;
    const lines = files.map((file) => {
      const { name, stats } = file;
      const old = this.#old.get(name);
      if (!this.#read.has(name) && old?.startsWith(startOf(name, stats)) === true) return old;
      changed = true;
      // A file that has grown may have another model now, so only a head of the same size is reused.
      const known = this.known(file);
      return lineOf(name, stats, known?.isCurrent === true ? known.head : undefined);
    });
    if (!changed) return undefined;
    temporaries += 1;
    const temporary = `${this.#path}.${process.pid}-${temporaries}.tmp`;
    const text = `${[first, ...lines].join("\n")}\n`;
    return {
      temporary,
      text,
      header: first,
      lines: new Map(files.map(({ name }, index) => [name, lines[index] ?? ""])),
    };
  }

  #saved({ header, lines }: NextCache): void {
    this.#header = header;
    this.#old = lines;
    this.#read.clear();
  }

  /** Returns the head of a file as it was read last; it is current if the file has not grown since. */
  known({ name, stats }: SeenFile): { readonly head: Head; readonly isCurrent: boolean } | undefined {
    const line = this.#old.get(name);
    const known = this.#read.get(name) ?? (line === undefined ? undefined : knownFile(line));
    if (known?.head === undefined || known.inode !== stats.ino) return undefined;
    // In an empty conversation or a damaged file, every new byte may change the head.
    const { empty, damaged } = known.head;
    const isUsable = empty || damaged ? known.size === stats.size : known.size <= stats.size;
    return isUsable ? { head: known.head, isCurrent: known.size === stats.size } : undefined;
  }
}

/** The part of a header by which a list decides whether the cached order is still right. */
type CacheOrder = Omit<CacheHeader, "count">;

/** A directory as a list has just seen it. */
interface SeenDirectory {
  readonly folders: CacheHeader["folders"];
  /** Names of lock files, relative to the directory. */
  readonly locks: readonly string[];
  readonly files: readonly SeenFile[];
}

/** The header of a cache whose order is not trusted. */
export const noOrder: CacheOrder = { folders: [], open: [] };

/** A folder may change twice within one tick of its clock. */
const settledMs = 2_000;

export const lockEnding = ".lock";

/** Returns the header for a directory that only cody writes to; without an order if a folder changed just now. */
export function orderOf({ folders, locks, files }: SeenDirectory, now: number): CacheOrder {
  if (!folders.every(([, mtimeMs]) => now - mtimeMs > settledMs)) return noOrder;
  if (locks.length === 0) return { folders, open: [] };
  const open = new Set(locks.map((lock) => lock.slice(0, -lockEnding.length)));
  const found = files.filter(({ name }) => open.has(name));
  // A lock with another name cannot be matched to a file.
  if (found.length !== locks.length) return noOrder;
  return { folders, open: found.map(({ name, stats: { ino, size, mtimeMs } }) => [name, ino, size, mtimeMs]) };
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

function linesIn(text: string): string[] {
  const lines = text.split("\n");
  return isCacheHeader(lines[0]) ? lines.filter((line) => line !== "") : [];
}
