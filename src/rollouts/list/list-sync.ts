import { closeSync, lstatSync, openSync, readSync, statSync } from "node:fs";
import { sep } from "node:path";
import {
  type CurrentModel,
  currentModelIn,
  nextTailBytes,
  type Head,
  headBytes,
  readHeadBytes,
  moreBytes,
  unreadable,
} from "./head.js";
import { HeadCache, headCachePath, lockEnding, noOrder, orderOf } from "./head-cache.js";
import { updatedAt } from "./head-cache-lines.js";
import { comesAfter, type ConversationPage, cachedPage, type ListPosition } from "./cached-list.js";
import { rolloutsInSync } from "./layout-files.js";
import { type ConversationSummary, type ListOptions, newestFirst } from "./list.js";
import { readFlags } from "../../base/fs/open-regular.js";

export interface SyncListOptions extends ListOptions {
  /** Only conversations after this one. */
  readonly after?: ListPosition;
  /** Path of the head cache, if not in the directory itself: directories of other programs are left untouched. */
  readonly cache?: string;
  /**
   * The current time; set for a directory that only cody writes to, with a cache elsewhere. Writers take a lock,
   * which changes the folder, so unchanged folders need not be listed again.
   */
  readonly own?: { readonly now: number };
}

/**
 * Like `listConversations`, but synchronous: several times faster for a command that only lists. Must not be used
 * where conversations run.
 */
export function listConversationsSync(directory: string, options: SyncListOptions = {}): ConversationSummary[] {
  return [...listPageSync(directory, options).conversations];
}

/** Returns a page together with the total number of conversations. */
export function listPageSync(directory: string, options: SyncListOptions = {}): ConversationPage {
  const cache = options.cache ?? headCachePath(directory);
  const known = options.own === undefined ? undefined : cachedPage(directory, cache, options);
  return known ?? scanPage(directory, cache, options);
}

function scanPage(directory: string, cache: string, options: SyncListOptions): ConversationPage {
  const { limit, after, own } = options;
  const folders: [name: string, mtimeMs: number][] = [];
  const locks: string[] = [];
  const rollouts =
    options.files ??
    rolloutsInSync(directory, (folder, read) => {
      const mtimeMs = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
      if (mtimeMs !== undefined) folders.push([folder.slice(directory.length), mtimeMs]);
      const names = read();
      for (const name of names)
        if (name.endsWith(lockEnding)) locks.push(`${folder}${sep}${name}`.slice(directory.length + 1));
      return names;
    });
  const files = rollouts
    .flatMap(({ id, path }) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      const isListed = stats !== undefined && (stats.isFile() || stats.isSymbolicLink());
      return isListed ? [{ id, path, name: path.slice(directory.length + 1), stats }] : [];
    })
    .toSorted(newestFirst);
  const headCache = HeadCache.readSync(cache);
  const buffer = Buffer.allocUnsafe(headBytes);
  const wanted = after === undefined ? files : files.filter(({ id, stats }) => comesAfter(after, id, stats));
  const conversations = wanted.slice(0, limit).map(({ id, path, name, stats }) => ({
    id,
    path,
    updatedAt: updatedAt(stats),
    size: stats.size,
    ...headCache.get({ name, stats }, (known) => readHead(path, stats.size, buffer, known)),
  }));
  headCache.saveSync(files, own === undefined ? noOrder : orderOf({ folders, locks, files }, own.now));
  return { conversations, total: files.length };
}

/** For a file that has only grown since its head was read, reads only the end. */
function readHead(path: string, size: number, buffer: Buffer, known: Head | undefined): Head {
  try {
    const fd = openSync(path, readFlags);
    try {
      const current = known === undefined ? undefined : lastModel(fd, size);
      // Codex does not record the provider of a turn, so the one from the start of the file applies.
      if (known !== undefined && (current === undefined || current.provider !== undefined)) {
        return { ...known, ...current };
      }
      let bytes = buffer.subarray(0, readSync(fd, buffer, 0, headBytes, 0));
      for (let more = moreBytes(bytes, size); more !== undefined; more = moreBytes(bytes, size)) {
        const longer = Buffer.allocUnsafe(more);
        const read = readSync(fd, longer, 0, more, 0);
        // The file has become shorter since its size was read.
        if (read <= bytes.length) break;
        bytes = longer.subarray(0, read);
      }
      return {
        ...readHeadBytes(bytes, size),
        ...(bytes.length >= size ? currentModelIn(bytes) : (current ?? lastModel(fd, size))),
      };
    } finally {
      closeSync(fd);
    }
  } catch {
    return unreadable;
  }
}

function lastModel(fd: number, size: number): CurrentModel | undefined {
  let found: CurrentModel | undefined;
  for (let length = nextTailBytes(size); length !== undefined; length = nextTailBytes(size, length)) {
    const tail = Buffer.allocUnsafe(length);
    found = currentModelIn(tail.subarray(0, readSync(fd, tail, 0, length, size - length)));
    if (found !== undefined) break;
  }
  return found;
}
