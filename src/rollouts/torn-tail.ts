import { constants } from "node:fs";
import { basename, dirname } from "node:path";
import { readRange, syncDirectory, writeAll, type FileSystem } from "./file-system.js";
import { besideRollout } from "./layout.js";
import { maxLineBytes, readLineBytes, withoutMark } from "./line-object.js";

export interface MendedTail {
  /** Where the file ends now; a line may be appended here. */
  readonly bytes: number;
  readonly torn?: { readonly bytes: number; readonly keptAs: string };
}

const chunkBytes = 64 * 1024;
const copyBytes = 1024 * 1024;
const maxKept = 1000;
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
  const keptAs = await keepBeside(fileSystem, fd, path, start, size);
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

async function keepBeside(
  fileSystem: FileSystem,
  from: number,
  path: string,
  start: number,
  size: number,
): Promise<string> {
  const { fd, name } = await createBeside(fileSystem, path);
  try {
    await fileSystem.fchmod(fd, 0o600);
    for (let position = start; position < size; position += copyBytes) {
      await writeAll(fileSystem, fd, await readRange(fileSystem, from, position, Math.min(size, position + copyBytes)));
    }
    await fileSystem.fsync(fd);
  } finally {
    await fileSystem.close(fd);
  }
  await syncDirectory(fileSystem, dirname(path));
  return name;
}

async function createBeside(fileSystem: FileSystem, path: string): Promise<{ fd: number; name: string }> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  for (let number = 1; number <= maxKept; number += 1) {
    const kept = besideRollout(path, `torn-${number}`);
    try {
      return { fd: await fileSystem.open(kept, flags, 0o600), name: basename(kept) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  throw new Error(`more than ${maxKept} torn lines are kept already`);
}
