import { type FileHandle, open, stat } from "node:fs/promises";
import { basename, sep } from "node:path";
import { readFlags } from "../../base/fs/open-regular.js";
import { idFromFileName } from "../layout.js";
import { cachedFile, type CachedFile } from "./cached-list.js";
import type { Head } from "./head.js";
import { HeadCache, lockEnding, noOrder, orderOf } from "./head-cache.js";
import { type CacheHeader, parsedHeader, updatedAt } from "./head-cache-lines.js";
import { type RolloutName, rolloutsIn } from "./layout-files.js";
import {
  type ConversationSummary,
  datedFiles,
  inParallel,
  type ListOptions,
  newestFirst,
  readHead,
  statOrUndefined,
} from "./list.js";

interface DirectoryListOptions {
  readonly directory: string;
  /** Path of the cached heads, which the command line reads and writes too. */
  readonly cache: string;
  /**
   * Whether only cody writes to the directory, with the cache elsewhere. Writers take a lock, which changes the folder,
   * so the order of the files is known as long as no folder changes.
   */
  readonly isOwn: boolean;
  /** Whether the cache may be written. */
  readonly mayWrite: boolean;
}

/** A longer page is read from all files, which takes less time than their lines in the cache one by one. */
const maxCachedPage = 1_000;
/** Minimum time between two checks of all files in the background. */
const checkEveryMs = 60_000;
/** A process that ends soon after its list never begins the check. */
const checkDelayMs = 1_000;
/** Maximum number of remembered heads of files that have changed since the cache was written. */
const maxChangedHeads = 1_000;
/** In a directory whose order is not cached, the cache is written when so many heads had to be read. */
const minUnsavedHeads = 100;
const chunkBytes = 64 * 1024;
const newline = 0x0a;

/**
 * Lists one directory again and again in a process where conversations run. A page comes from the cached order if no
 * folder has changed, with the files on it and those that are open looked at again. Otherwise all files are looked at,
 * and the cache is written anew.
 */
export class DirectoryList {
  readonly #options: DirectoryListOptions;
  /** The cache as this process read or wrote it last. */
  #heads: { readonly cache: HeadCache; readonly stamp: string } | undefined;
  /** Heads of files that have changed since the cache was written, by name. */
  readonly #changed = new Map<string, { readonly inode: number; readonly size: number; readonly head: Head }>();
  #checkedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<unknown> | undefined;
  #isClosed = false;

  constructor(options: DirectoryListOptions) {
    this.#options = options;
  }

  /** Returns the newest conversations, at most `limit`; with `files`, only those. */
  async list({ limit = Number.POSITIVE_INFINITY, files }: ListOptions = {}): Promise<ConversationSummary[]> {
    if (this.#options.isOwn && files === undefined && limit <= maxCachedPage) {
      const known = await this.#cachedPage(limit).catch(() => undefined);
      if (known !== undefined) {
        this.#checkLater();
        return known;
      }
    }
    return await this.#scan(limit, files);
  }

  /** Ends the check in the background. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#checking;
  }

  /** A program that writes without a lock, such as an editor, changes no folder, so all files are checked at times. */
  #checkLater(): void {
    if (this.#timer !== undefined || this.#isClosed || performance.now() - this.#checkedAt < checkEveryMs) return;
    this.#timer = setTimeout(() => {
      this.#checking = this.#scan(0, undefined)
        .catch(() => undefined)
        .finally(() => (this.#timer = undefined));
    }, checkDelayMs).unref();
  }

  async #cachedPage(limit: number): Promise<ConversationSummary[] | undefined> {
    const { directory, cache } = this.#options;
    const page = await readCachedPage(cache, limit);
    if (page === undefined || !(await areUnchanged(directory, page.header))) return undefined;
    const stats = await inParallel(page.files, ({ name }) => statOrUndefined(directory + sep + name));
    const files = page.files.flatMap((file, index) => {
      const now = stats[index];
      // An older time would move the file behind those that were not read.
      return now?.ino === file.inode && now.mtimeMs >= file.mtimeMs ? [{ ...file, stats: now }] : [];
    });
    if (files.length < page.files.length) return undefined;
    return await inParallel(files.toSorted(newestFirst).slice(0, limit), async (file) => {
      const { id, name, inode, stats: now } = file;
      const path = directory + sep + name;
      const isCurrent = file.size === now.size && file.mtimeMs === now.mtimeMs;
      const head =
        (isCurrent ? file.head : undefined) ?? (await this.#changedHead(path, { name, inode, size: now.size }));
      return { id, path, updatedAt: updatedAt(now), size: now.size, ...head };
    });
  }

  async #changedHead(path: string, { name, inode, size }: Omit<CachedFile, "id" | "mtimeMs" | "head">): Promise<Head> {
    const known = this.#changed.get(name);
    if (known?.inode === inode && known.size === size) return known.head;
    const head = await readHead(path, size);
    this.#changed.delete(name);
    this.#changed.set(name, { inode, size, head });
    for (const oldest of this.#changed.keys()) {
      if (this.#changed.size <= maxChangedHeads) break;
      this.#changed.delete(oldest);
    }
    return head;
  }

  /** Looks at all files; reads the heads of those on the page that the cache does not have. */
  async #scan(limit: number, only: readonly RolloutName[] | undefined): Promise<ConversationSummary[]> {
    const { directory, cache, isOwn, mayWrite } = this.#options;
    const folders: [name: string, mtimeMs: number][] = [];
    const locks: string[] = [];
    const rollouts =
      only ??
      (await rolloutsIn(directory, async (folder, read) => {
        const mtimeMs = await modificationTime(folder);
        if (mtimeMs !== undefined) folders.push([folder.slice(directory.length), mtimeMs]);
        const names = await read();
        const prefix = folder.slice(directory.length + 1);
        for (const name of names) if (name.endsWith(lockEnding)) locks.push(prefix === "" ? name : prefix + sep + name);
        return names;
      }));
    const dated = await datedFiles(rollouts);
    const files = dated.map((file) => ({ ...file, name: file.path.slice(directory.length + 1) }));
    const heads = await this.#loadHeads();
    // One more, because `cody list` with this limit looks at it to know whether there is another page.
    const page = await inParallel(files.slice(0, limit + 1), async (file) => {
      const { id, path, stats } = file;
      const known = heads.known(file);
      const head = known?.isCurrent === true ? known.head : await readHead(path, stats.size);
      if (known?.isCurrent !== true) heads.add(file, head);
      return { id, path, updatedAt: updatedAt(stats), size: stats.size, ...head };
    });
    if (only === undefined) this.#checkedAt = performance.now();
    const order = isOwn ? orderOf({ folders, locks, files }, Date.now()) : noOrder;
    if (mayWrite && (order !== noOrder || heads.unsaved >= minUnsavedHeads)) {
      await heads.save(files, order);
      this.#heads = { cache: heads, stamp: await stampOf(cache) };
    }
    return page.slice(0, limit);
  }

  /** Parses the cache only if another process has written or deleted it. */
  async #loadHeads(): Promise<HeadCache> {
    const { cache } = this.#options;
    const stamp = await stampOf(cache);
    if (this.#heads?.stamp !== stamp) this.#heads = { cache: await HeadCache.read(cache), stamp };
    return this.#heads.cache;
  }
}

interface CachedPage {
  readonly header: CacheHeader;
  /** The newest files, and those that were open. */
  readonly files: readonly CachedFile[];
}

/** Reads no more of the cache than the page needs; undefined if the cache is missing or invalid, or has no order. */
async function readCachedPage(cache: string, limit: number): Promise<CachedPage | undefined> {
  const file = await open(cache, readFlags);
  try {
    const lines = new CacheLines(file);
    const header = parsedHeader((await lines.upTo(1))[0] ?? "");
    if (header === undefined || header.folders.length === 0) return undefined;
    // Those that were open may have moved, to the page or from it.
    const first = (await lines.upTo(1 + limit + header.open.length)).slice(1);
    if (first.length < Math.min(header.count, limit)) return undefined;
    const newest = first.map(cachedFile);
    const names = new Set(newest.map((each) => each?.name));
    const opened = header.open.flatMap(([name, inode, size, mtimeMs]) => {
      const id = idFromFileName(basename(name));
      return names.has(name) || id === undefined ? [] : [{ id, name, inode, size, mtimeMs, head: undefined }];
    });
    const files = [...newest, ...opened].filter((each) => each !== undefined);
    return files.length === newest.length + opened.length ? { header, files } : undefined;
  } finally {
    await file.close();
  }
}

/** The lines of a file, read as far as they are needed. */
class CacheLines {
  readonly #file: FileHandle;
  readonly #lines: string[] = [];
  #rest: Buffer = Buffer.of();
  #isAtEnd = false;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async upTo(count: number): Promise<readonly string[]> {
    while (this.#lines.length < count && !this.#isAtEnd) {
      const { bytesRead, buffer } = await this.#file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes);
      this.#isAtEnd = bytesRead === 0;
      const bytes = Buffer.concat([this.#rest, buffer.subarray(0, bytesRead)]);
      let from = 0;
      for (let to = bytes.indexOf(newline); to !== -1; to = bytes.indexOf(newline, from)) {
        this.#lines.push(bytes.toString("utf8", from, to));
        from = to + 1;
      }
      this.#rest = bytes.subarray(from);
    }
    return this.#lines.slice(0, count);
  }
}

async function areUnchanged(directory: string, { folders }: CacheHeader): Promise<boolean> {
  const times = await inParallel(folders, ([name]) => modificationTime(directory + name));
  return folders.every(([, mtimeMs], index) => times[index] === mtimeMs);
}

async function stampOf(path: string): Promise<string> {
  const stats = await statOrUndefined(path);
  return stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}

async function modificationTime(folder: string): Promise<number | undefined> {
  return await stat(folder).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}
