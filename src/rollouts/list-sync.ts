import { closeSync, lstatSync, openSync, readSync } from "node:fs";
import { type Head, headBytes, headOf, moreBytes, unreadable } from "./head.js";
import { HeadCache, headCachePath } from "./head-cache.js";
import { rolloutsInSync } from "./layout-files.js";
import { type ConversationSummary, type ListOptions, newestFirst, openFlags } from "./list.js";

export interface SyncListOptions extends ListOptions {
  /** Where it is kept what heads said, instead of in the directory: others' directories are left as they are. */
  readonly cache?: string;
}

/**
 * The same as `listConversations`, without giving way to anything else: several times quicker for a command that
 * does nothing but list, and forbidden where conversations run.
 */
export function listConversationsSync(directory: string, options: SyncListOptions = {}): ConversationSummary[] {
  const dated = rolloutsInSync(directory).flatMap(({ id, path }) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats !== undefined && (stats.isFile() || stats.isSymbolicLink()) ? [{ id, path, stats }] : [];
  });
  const buffer = Buffer.allocUnsafe(headBytes);
  const heads = new HeadCache(options.cache ?? headCachePath(directory));
  const all = dated.toSorted(newestFirst).map(({ id, path, stats }) => ({
    id,
    path,
    updatedAt: Math.floor(stats.mtimeMs),
    ...heads.get(id, stats, () => readHead(path, stats.size, buffer)),
  }));
  heads.save();
  return all.slice(0, options.limit);
}

function readHead(path: string, size: number, buffer: Buffer): Head {
  try {
    const fd = openSync(path, openFlags);
    try {
      let bytes = buffer.subarray(0, readSync(fd, buffer, 0, headBytes, 0));
      for (let more = moreBytes(bytes, size); more !== undefined; more = moreBytes(bytes, size)) {
        const longer = Buffer.allocUnsafe(more);
        const read = readSync(fd, longer, 0, more, 0);
        // The file has become shorter since its size was asked for.
        if (read <= bytes.length) break;
        bytes = longer.subarray(0, read);
      }
      return headOf(bytes, size);
    } finally {
      closeSync(fd);
    }
  } catch {
    return unreadable;
  }
}
