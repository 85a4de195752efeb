import { lstat, lutimes } from "node:fs/promises";

/** A file's modification time and size. */
export interface FileTime {
  readonly mtimeMs: number;
  readonly size: number;
}

const microsecond = 1_000_000;

/** Returns undefined where the file does not exist. */
export async function readFileTime(path: string): Promise<FileTime | undefined> {
  return await lstat(path).catch(() => undefined);
}

/** Restores a file's modification time if it has exactly this size; a failure is ignored. */
export async function restoreFileTime(path: string, { mtimeMs }: FileTime, size: number): Promise<void> {
  try {
    const stats = await lstat(path);
    if (stats.size !== size) return;
    // Adds half a microsecond, because a fraction is truncated and could lose a millisecond.
    const seconds = (Math.floor(mtimeMs * 1000) + 0.5) / microsecond;
    await lutimes(path, stats.atimeMs / 1000, seconds);
  } catch {
    // The file then keeps the time of its last write.
  }
}
