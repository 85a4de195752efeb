import { link, rename, rm } from "node:fs/promises";
import type { Stats } from "node:fs";
import { createFlags } from "../../base/fs/open-regular.js";
import { type FileSystem, nodeFileSystem, writeAll } from "./file-system.js";
import { openRollout } from "./lines.js";

/** Substrings of lines that contain the complete history; inside a text the quotes would be escaped. */
const marks = ['"replacement_history":[', '"type":"history_replaced"'];

const newline = 0x0a;

const pieceBytes = 1024 * 1024;

/** Overlap of consecutive pieces, because a line may begin in the earlier one: its mark follows its summary. */
const sharedBytes = 64 * 1024;

/** Limit of the search; the history a model can see, and the lines since its replacement, are mostly shorter. */
const searchedBytes = 16 * pieceBytes;

const flushBytes = 1024 * 1024;

/** The system calls needed to replace a rollout, in addition to those for writing one. */
export interface RepairFiles extends FileSystem {
  /** Fails if the name is taken. */
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Succeeds if the file does not exist. */
  remove(path: string): Promise<void>;
}

export const nodeRepairFiles: RepairFiles = {
  ...nodeFileSystem,
  link,
  rename,
  remove: (path) => rm(path, { force: true }),
};

/**
 * Writes and syncs a file that will replace another. The caller must hold the lock: then only a killed process can
 * have left a file of the same name.
 */
export async function writeReplacement<T>(
  files: RepairFiles,
  path: string,
  fill: (write: (bytes: Buffer) => Promise<void>) => Promise<T>,
): Promise<T> {
  await files.remove(path);
  const fd = await files.open(path, createFlags, 0o600);
  try {
    await files.fchmod(fd, 0o600);
    let waiting: Buffer[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      await writeAll(files, fd, Buffer.concat(waiting));
      [waiting, bytes] = [[], 0];
    };
    const result = await fill(async (more) => {
      waiting.push(more);
      bytes += more.length;
      if (bytes >= flushBytes) await flush();
    });
    await flush();
    await files.fsync(fd);
    return result;
  } finally {
    await files.close(fd);
  }
}

/** Whether nobody has replaced or written the file between two stats. */
export function isUnchanged(before: Stats, after: Stats): boolean {
  return (
    before.ino === after.ino &&
    before.dev === after.dev &&
    before.size === after.size &&
    before.mtimeMs === after.mtimeMs
  );
}

/**
 * Finds the offset near the end of a rollout at which a line seems to begin that replaces the whole history. The
 * search parses nothing, so the caller must verify that line.
 */
export async function findReplacement(
  path: string,
  conversationId: string,
  bytes: number,
): Promise<number | undefined> {
  const file = await openRollout(path, conversationId);
  try {
    const buffer = Buffer.allocUnsafe(pieceBytes + sharedBytes);
    for (let to = bytes; to > Math.max(0, bytes - searchedBytes); to -= pieceBytes) {
      const from = Math.max(0, to - buffer.length);
      const { bytesRead } = await file.read(buffer, 0, to - from, from);
      const piece = buffer.subarray(0, bytesRead);
      const found = Math.max(...marks.map((mark) => piece.lastIndexOf(mark)));
      if (found !== -1) return from + piece.lastIndexOf(newline, found) + 1;
    }
    return undefined;
  } finally {
    await file.close();
  }
}
