import { randomUUID } from "node:crypto";
import { link, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../../../base/system-error.js";
import { CommandError, exitCodes } from "../../command-error.js";

/** More files of the same name mean that something is wrong. */
const maxAttempts = 1_000;
/** Errors of file systems without hard links. */
const noLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** Bounds the temporary name, which would otherwise be longer than a file name may be. */
const keptChars = 40;

interface NewFile {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Creates a new file atomically, private to its owner. `pathOf` returns a path for each attempt, and undefined if there
 * is none left to try. Never overwrites a file.
 */
export async function writeNewFile(
  pieces: AsyncIterable<string>,
  pathOf: (attempt: number) => string | undefined,
  signal: AbortSignal,
): Promise<NewFile> {
  const first = pathOf(1) ?? "";
  const directory = dirname(first);
  await written(directory, mkdir(directory, { recursive: true, mode: 0o700 }));
  const temporary = join(directory, `.${basename(first).slice(0, keptChars)}.${randomUUID()}.tmp`);
  try {
    const bytes = await writeAll(temporary, pieces, signal);
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const path = pathOf(attempt);
      if (path === undefined) break;
      if (await written(directory, linkIntoPlace(temporary, path))) return { path, bytes };
    }
    throw new FileExistsError(first);
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

/** The file already exists. */
export class FileExistsError extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} already exists`);
    this.path = path;
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is exceeded",
  EEXIST: "part of the path is a file, not a directory",
  ENOTDIR: "part of the path is a file, not a directory",
  ENOENT: "it does not exist and cannot be created",
  ENAMETOOLONG: "the name is too long",
};

/** Explains errors of writing; errors of reading are left to their own handlers. */
async function written<T>(directory: string, writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const hint = "Choose another directory: cody config set export.directory PATH, or --output FILE";
    throw new CommandError(`Cannot write to ${directory}: ${reasons[code] ?? code}`, exitCodes.failed, [hint]);
  }
}

async function writeAll(path: string, pieces: AsyncIterable<string>, signal: AbortSignal): Promise<number> {
  const directory = dirname(path);
  const file = await written(directory, open(path, "wx", 0o600));
  try {
    await written(directory, file.chmod(0o600));
    let bytes = 0;
    for await (const piece of pieces) {
      signal.throwIfAborted();
      const chunk = Buffer.from(piece);
      await written(directory, file.writeFile(chunk));
      bytes += chunk.length;
    }
    signal.throwIfAborted();
    await written(directory, file.sync());
    return bytes;
  } finally {
    await file.close();
  }
}

/** Gives the finished file its name; returns false if the name is taken. */
async function linkIntoPlace(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (!noLinks.has(code)) throw error;
  }
  // Reserves the name first, so that nobody else's file is replaced.
  try {
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return true;
}
