import { constants } from "node:fs";
import { basename, dirname } from "node:path";
import { companionPath } from "../layout.js";
import { readRange, writeAll, type FileSystem, syncDirectory } from "./file-system.js";
import { maxLineBytes, readLineBytes, withoutMark } from "./lines.js";

const copyBytes = 1024 * 1024;

const maxTornFiles = 1000;

const flags = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Errors for a path that is not a file or that we may not write. */
const unwritableCodes = new Set<string | undefined>(["ELOOP", "EISDIR", "ENXIO", "EACCES", "EPERM"]);

interface RepairedTail {
  /** Length of the file after the fix; a line may be appended here. */
  readonly bytes: number;
  readonly torn?: { readonly bytes: number; readonly keptAs: string };
}

const chunkBytes = 64 * 1024;
const newline = 0x0a;

/**
 * Ensures that a rollout ends with a newline. The remains of a last line torn by a crash are saved beside the file
 * and cut off; a complete line without a newline gets one. The caller must hold the lock, because a live writer would
 * lose lines.
 */
export async function repairTail(
  fileSystem: FileSystem,
  fd: number,
  path: string,
  size: number,
): Promise<RepairedTail> {
  const start = await lastLineStart(fileSystem, fd, size);
  if (start === size) return { bytes: size };
  if (await isCompleteLine(fileSystem, fd, start, size)) {
    await writeAll(fileSystem, fd, Buffer.from("\n"));
    await fileSystem.fsync(fd);
    return { bytes: size + 1 };
  }
  const keptAs = await keepTail(fileSystem, { fd, start, end: size }, path);
  await fileSystem.ftruncate(fd, start);
  await fileSystem.fsync(fd);
  return { bytes: start, torn: { bytes: size - start, keptAs } };
}

/** Returns the start of an unterminated last line, or the end of the file if there is none. */
async function lastLineStart(fileSystem: FileSystem, fd: number, size: number): Promise<number> {
  for (let end = size; end > 0; end -= Math.min(end, chunkBytes)) {
    const from = Math.max(0, end - chunkBytes);
    const found = (await readRange(fileSystem, fd, from, end)).lastIndexOf(newline);
    if (found !== -1) return from + found + 1;
  }
  return 0;
}

async function isCompleteLine(fileSystem: FileSystem, fd: number, start: number, size: number): Promise<boolean> {
  if (size - start > maxLineBytes) return false;
  const bytes = await readRange(fileSystem, fd, start, size);
  return readLineBytes(start === 0 ? withoutMark(bytes) : bytes).status !== "bad";
}

/** The end of an open rollout that is to be cut off. */
interface Tail {
  readonly fd: number;
  readonly start: number;
  readonly end: number;
}

interface TornFile {
  readonly fd: number;
  readonly name: string;
}

/** Saves a tail in a file beside its rollout and returns that file's name. Safe to repeat after a failure. */
async function keepTail(fileSystem: FileSystem, tail: Tail, path: string): Promise<string> {
  const { fd, name } = await openTornFile(fileSystem, tail, path);
  try {
    await fileSystem.fchmod(fd, 0o600);
    for (const [from, to] of pieces(tail.start, tail.end)) {
      await writeAll(fileSystem, fd, await readRange(fileSystem, tail.fd, from, to));
    }
    await fileSystem.fsync(fd);
  } finally {
    await fileSystem.close(fd);
  }
  await syncDirectory(fileSystem, dirname(path));
  return name;
}

/** Opens an empty file: a new one, or the one left by an earlier attempt that failed. */
async function openTornFile(fileSystem: FileSystem, tail: Tail, path: string): Promise<TornFile> {
  for (let number = 1; number <= maxTornFiles; number += 1) {
    const backup = companionPath(path, `torn-${number}`);
    const fd = (await create(fileSystem, backup)) ?? (await openAgain(fileSystem, backup, tail));
    if (fd !== undefined) return { fd, name: basename(backup) };
  }
  throw new Error(`there are already ${maxTornFiles} backups of incomplete lines`);
}

async function create(fileSystem: FileSystem, backup: string): Promise<number | undefined> {
  try {
    return await fileSystem.open(backup, flags | constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
}

/** Reuses a file only if it contains nothing but the beginning of this tail. */
async function openAgain(fileSystem: FileSystem, backup: string, tail: Tail): Promise<number | undefined> {
  const fd = await fileSystem.open(backup, flags | constants.O_RDWR).catch((error: NodeJS.ErrnoException) => {
    if (unwritableCodes.has(error.code)) return undefined;
    throw error;
  });
  if (fd === undefined) return undefined;
  try {
    if (await beginsTail(fileSystem, fd, tail)) {
      // Starts over, because after a failed sync the visible bytes may not be on disk.
      await fileSystem.ftruncate(fd, 0);
      return fd;
    }
  } catch (error) {
    await fileSystem.close(fd);
    throw error;
  }
  await fileSystem.close(fd);
  return undefined;
}

async function beginsTail(fileSystem: FileSystem, fd: number, tail: Tail): Promise<boolean> {
  const stats = await fileSystem.fstat(fd);
  if (!stats.isFile() || stats.size > tail.end - tail.start) return false;
  for (const [from, to] of pieces(0, stats.size)) {
    const found = await readRange(fileSystem, fd, from, to);
    if (!found.equals(await readRange(fileSystem, tail.fd, tail.start + from, tail.start + to))) return false;
  }
  return true;
}

function* pieces(start: number, end: number): Generator<[from: number, to: number]> {
  for (let from = start; from < end; from += copyBytes) yield [from, Math.min(end, from + copyBytes)];
}
