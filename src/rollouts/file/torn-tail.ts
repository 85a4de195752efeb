import { readRange, writeAll, type FileSystem } from "./file-system.js";
import { keepTail } from "./kept-tail.js";
import { maxLineBytes, readLineBytes, withoutMark } from "./line-object.js";

export interface MendedTail {
  /** Where the file ends now; a line may be appended here. */
  readonly bytes: number;
  readonly torn?: { readonly bytes: number; readonly keptAs: string };
}

const chunkBytes = 64 * 1024;
const newline = 0x0a;

/**
 * Sees to it that a rollout ends with a newline. What a crash left of its last line is kept beside the file and cut
 * off; a line that only lacks its newline gets one. Only for who holds the lock: a live writer would lose lines.
 */
export async function mendTail(fileSystem: FileSystem, fd: number, path: string, size: number): Promise<MendedTail> {
  const start = await lastLineStart(fileSystem, fd, size);
  if (start === size) return { bytes: size };
  if (await isWholeLine(fileSystem, fd, start, size)) {
    await writeAll(fileSystem, fd, Buffer.from("\n"));
    await fileSystem.fsync(fd);
    return { bytes: size + 1 };
  }
  const keptAs = await keepTail(fileSystem, { fd, start, end: size }, path);
  await fileSystem.ftruncate(fd, start);
  await fileSystem.fsync(fd);
  return { bytes: start, torn: { bytes: size - start, keptAs } };
}

/** Where the line without a newline begins; the end of the file when there is none. */
async function lastLineStart(fileSystem: FileSystem, fd: number, size: number): Promise<number> {
  for (let end = size; end > 0; end -= Math.min(end, chunkBytes)) {
    const from = Math.max(0, end - chunkBytes);
    const found = (await readRange(fileSystem, fd, from, end)).lastIndexOf(newline);
    if (found !== -1) return from + found + 1;
  }
  return 0;
}

async function isWholeLine(fileSystem: FileSystem, fd: number, start: number, size: number): Promise<boolean> {
  if (size - start > maxLineBytes) return false;
  const bytes = await readRange(fileSystem, fd, start, size);
  return readLineBytes(start === 0 ? withoutMark(bytes) : bytes).status !== "bad";
}
