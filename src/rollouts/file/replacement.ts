import { link, rename, rm } from "node:fs/promises";
import { constants, type Stats } from "node:fs";
import { type FileSystem, nodeFileSystem, writeAll } from "./file-system.js";

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
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = await files.open(path, flags, 0o600);
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
