import { lstat, lutimes } from "node:fs/promises";

/** When a file was changed, and how long it was then. */
export interface FileTime {
  readonly mtimeMs: number;
  readonly size: number;
}

const microsecond = 1_000_000;

/** Undefined where there is nothing to look at. */
export async function fileTime(path: string): Promise<FileTime | undefined> {
  return await lstat(path).catch(() => undefined);
}

/** Gives a file that is exactly so long now the time it had; one that cannot get it is as it would be without. */
export async function setTimeBack(path: string, { mtimeMs }: FileTime, size: number): Promise<void> {
  try {
    const stats = await lstat(path);
    if (stats.size !== size) return;
    // Half a microsecond more, because what does not come out even is cut off, and would be a millisecond less.
    const seconds = (Math.floor(mtimeMs * 1000) + 0.5) / microsecond;
    await lutimes(path, stats.atimeMs / 1000, seconds);
  } catch {
    // Then it is as new as what was written.
  }
}
