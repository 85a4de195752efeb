import { closeSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { sep } from "node:path";
import { type Head, headBytes, headOf, moreBytes, unreadable } from "./head.js";
import { HeadCache } from "./head-cache.js";
import { type ConversationSummary, idOf, type ListOptions, newestFirst, openFlags } from "./list.js";

/**
 * The same as `listConversations`, without giving way to anything else: several times quicker for a command that
 * does nothing but list, and forbidden where conversations run.
 */
export function listConversationsSync(directory: string, options: ListOptions = {}): ConversationSummary[] {
  const dated = names(directory).flatMap((name) =>
    idOf(name).flatMap((id) => {
      const path = directory + sep + name;
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats !== undefined && (stats.isFile() || stats.isSymbolicLink()) ? [{ id, path, stats }] : [];
    }),
  );
  const buffer = Buffer.allocUnsafe(headBytes);
  const heads = new HeadCache(directory);
  const all = dated.toSorted(newestFirst).map(({ id, path, stats }) => ({
    id,
    path,
    updatedAt: Math.floor(stats.mtimeMs),
    ...heads.get(id, stats, () => readHead(path, stats.size, buffer)),
  }));
  heads.save();
  return all.slice(0, options.limit);
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function readHead(path: string, size: number, buffer: Buffer): Head {
  try {
    const fd = openSync(path, openFlags);
    try {
      const bytes = buffer.subarray(0, readSync(fd, buffer, 0, headBytes, 0));
      const more = moreBytes(bytes, size);
      if (more === undefined) return headOf(bytes, size);
      const longer = Buffer.allocUnsafe(more);
      return headOf(longer.subarray(0, readSync(fd, longer, 0, more, 0)), size);
    } finally {
      closeSync(fd);
    }
  } catch {
    return unreadable;
  }
}
