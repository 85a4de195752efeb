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
import { type CacheHeader, headerLine, isCacheHeader, lineOf, startOf, knownFile } from "./head-lines.js";
import { openFlags } from "../file/open-flags.js";

/** A file as it is now, by its name below the directory. */
export interface SeenFile {
  readonly name: string;
  readonly stats: Pick<Stats, "ino" | "size" | "mtimeMs">;
}

/** Some hundred thousand conversations. */
const maxCacheBytes = 32 * 1024 * 1024;

/**
 * What `cody list` read the last time, so that it need not open a thousand files again: a line for each file, the
 * newest first. Only a cache: rollouts are appended to and never rewritten, so the head of a file stays what it was,
 * except for the model of its last turn; without it everything is read.
 */
export class HeadCache {
  readonly #path: string;
  readonly #header: string | undefined;
  readonly #old = new Map<string, string>();
  /** What was read because no line said it. */
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

  /** The head of a file, read only when it is not known or may have changed; `read` is given what was known of its start. */
  get({ name, stats }: SeenFile, read: (known: Head | undefined) => Head): Head {
    const known = this.#known(name, stats);
    if (known?.size === stats.size) return known.head;
    const head = read(known?.head);
    this.#read.set(name, head);
    return head;
  }

  /** Replaces the file whole, if it would say something else; where nobody can write there is no cache. */
  save(files: readonly SeenFile[], header: Omit<CacheHeader, "count">): void {
    const first = headerLine({ ...header, count: files.length });
    let changed = first !== this.#header || files.length !== this.#old.size;
    const lines = files.map(({ name, stats }) => {
      const old = this.#old.get(name);
      const head = this.#read.get(name);
      if (head === undefined && old?.startsWith(startOf(name, stats)) === true) return old;
      changed = true;
      // What has grown may have another model now, so only a head of the same size is kept.
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
    // An empty conversation, or a damaged file, may have become another with every byte.
    const { empty, damaged } = known.head;
    const isUsable = empty || damaged ? known.size === size : known.size <= size;
    return isUsable ? { head: known.head, size: known.size } : undefined;
  }
}

/** Where it is for a directory that is nobody else's and not in the home. */
export function headCachePath(directory: string): string {
  return `${directory}${sep}.heads.json`;
}

/** Without parsing it: of most lines nobody asks for more. */
function nameIn(line: string): string | undefined {
  const text = /^\[("(?:[^"\\]|\\.)*"),/.exec(line)?.[1];
  return text?.includes("\\") === true ? String(JSON.parse(text)) : text?.slice(1, -1);
}

function cacheLines(path: string): string[] {
  try {
    const lines = readSmallFile(path).split("\n");
    return isCacheHeader(lines[0]) ? lines.filter((line) => line !== "") : [];
  } catch {
    return [];
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
