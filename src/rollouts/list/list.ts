import type { Stats } from "node:fs";
import * as fs from "node:fs";
import { readFlags } from "../../base/fs/open-regular.js";
import { updatedAt } from "./head-cache-lines.js";
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
import { type RolloutName, rolloutsIn } from "./layout-files.js";

/** A saved conversation, described by the start and end of its file and by its inode. */
export interface ConversationSummary extends Head {
  readonly id: string;
  readonly path: string;
  /** Time of the file's last change in milliseconds since 1970. */
  readonly updatedAt: number;
  /** In bytes. */
  readonly size: number;
}

export interface ListOptions {
  readonly limit?: number;
  /** Lists only these files of the directory, instead of searching it. */
  readonly files?: readonly RolloutName[];
}

/** Enough to keep the four threads of Node's pool busy, but few enough not to block other file access. */
const concurrency = 32;

/** Lists the conversations below a directory, newest first. Unreadable files are listed as damaged. */
export async function listConversations(directory: string, options: ListOptions = {}): Promise<ConversationSummary[]> {
  const newest = await datedFiles(options.files ?? (await rolloutsIn(directory)));
  return inParallel(newest.slice(0, options.limit), async ({ id, path, stats }) => ({
    id,
    path,
    updatedAt: updatedAt(stats),
    size: stats.size,
    ...(await readHead(path, stats.size)),
  }));
}

/** Returns those of these rollouts that exist, with their state, newest first. */
export async function datedFiles(files: readonly RolloutName[]): Promise<(RolloutName & { readonly stats: Stats })[]> {
  const dated = await inParallel(files, async ({ id, path }) => {
    const stats = await statOrUndefined(path);
    return stats !== undefined && (stats.isFile() || stats.isSymbolicLink()) ? [{ id, path, stats }] : [];
  });
  return dated.flat().toSorted(newestFirst);
}

/** Reads the head from the start of a file, with the provider and model from its end; never rejects. */
export async function readHead(path: string, size: number): Promise<Head> {
  try {
    const fd = await openNoFollow(path);
    try {
      let bytes = await readAt(fd, 0, Math.min(size, headBytes));
      for (let more = moreBytes(bytes, size); more !== undefined; more = moreBytes(bytes, size)) {
        const longer = await readAt(fd, 0, more);
        // The file has become shorter since its size was read.
        if (longer.length <= bytes.length) break;
        bytes = longer;
      }
      return {
        ...readHeadBytes(bytes, size),
        ...(bytes.length >= size ? currentModelIn(bytes) : await lastModel(fd, size)),
      };
    } finally {
      fs.close(fd, () => {});
    }
  } catch {
    return unreadable;
  }
}

function openNoFollow(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(path, readFlags, (error, fd) => (error === null ? resolve(fd) : reject(error)));
  });
}

async function lastModel(fd: number, size: number): Promise<CurrentModel | undefined> {
  let found: CurrentModel | undefined;
  for (let length = nextTailBytes(size); length !== undefined; length = nextTailBytes(size, length)) {
    found = currentModelIn(await readAt(fd, size - length, length));
    if (found !== undefined) break;
  }
  return found;
}

function readAt(fd: number, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  return new Promise((resolve, reject) => {
    fs.read(fd, buffer, 0, length, position, (error, bytesRead) =>
      error === null ? resolve(buffer.subarray(0, bytesRead)) : reject(error),
    );
  });
}

interface Dated {
  readonly id: string;
  readonly stats: Pick<Stats, "mtimeMs">;
}

/** Files changed in the same millisecond are ordered by id, which is ordered by time too. */
export function newestFirst(a: Dated, b: Dated): number {
  return updatedAt(b.stats) - updatedAt(a.stats) || (a.id < b.id ? 1 : -1);
}

export function statOrUndefined(path: string): Promise<Stats | undefined> {
  return new Promise((resolve) => {
    fs.lstat(path, (error, stats) => resolve(error === null ? stats : undefined));
  });
}

/** Runs at most `concurrency` tasks at a time and returns the results in order. */
export async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return results;
}

/** A saved conversation in a list. */
export interface ConversationMetadata {
  readonly id: string;
  /** The conversation's name, if it has one. */
  readonly name?: string;
  /** Pinned conversations are not cleaned up. */
  readonly pinned?: true;
  /** Time of the last change in milliseconds since 1970. */
  readonly updatedAt: number;
  readonly provider?: string;
  readonly model?: string;
  readonly cwd?: string;
  /** Milliseconds since 1970. */
  readonly createdAt?: number;
  readonly gitBranch?: string;
  readonly gitCommit?: string;
  /** First line of the user's first message, cut at 80 characters. */
  readonly title?: string;
  readonly path?: string;
  /** Size of the file in bytes. */
  readonly size?: number;
  /** Whether the conversation has no user message yet. */
  readonly empty?: boolean;
  readonly damaged?: boolean;
}
