import { constants, type Stats } from "node:fs";
import { writeAll } from "./file-system.js";
import type { RepairFiles } from "../repair/repair-files.js";

const flushBytes = 1024 * 1024;

/**
 * Makes a file that is to be put in the place of another, and waits until it is on disk. Only for who holds the lock:
 * under it only a run that was killed can have left one of the same name.
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

/** Whether nobody has replaced a file, or written to it. */
export function isUnchanged(before: Stats, after: Stats): boolean {
  return (
    before.ino === after.ino &&
    before.dev === after.dev &&
    before.size === after.size &&
    before.mtimeMs === after.mtimeMs
  );
}
