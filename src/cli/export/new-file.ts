import { randomUUID } from "node:crypto";
import { link, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** So many files of one name are a mistake somewhere. */
const maxAttempts = 1_000;
/** What file systems without hard links say. */
const noLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

export interface NewFile {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Writes a file that was not there, whole or not at all, for its owner alone. `pathOf` gives a path for each attempt,
 * and undefined when there is none left to try; nothing is ever overwritten.
 */
export async function writeNewFile(
  pieces: AsyncIterable<string>,
  pathOf: (attempt: number) => string | undefined,
  signal: AbortSignal,
): Promise<NewFile> {
  const first = pathOf(1) ?? "";
  const directory = dirname(first);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporary = join(directory, `.${basename(first).slice(0, keptChars)}.${randomUUID()}.tmp`);
  try {
    const bytes = await writeAll(temporary, pieces, signal);
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const path = pathOf(attempt);
      if (path === undefined) break;
      if (await isPlaced(temporary, path)) return { path, bytes };
    }
    throw new FileThereError(first);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Two names must not be longer than one may be. */
const keptChars = 40;

/** What was to be written is there already. */
export class FileThereError extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} is there already`);
    this.path = path;
  }
}

async function writeAll(path: string, pieces: AsyncIterable<string>, signal: AbortSignal): Promise<number> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.chmod(0o600);
    let bytes = 0;
    for await (const piece of pieces) {
      signal.throwIfAborted();
      const chunk = Buffer.from(piece);
      await file.writeFile(chunk);
      bytes += chunk.length;
    }
    signal.throwIfAborted();
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** Gives a finished file its name, unless something has it. */
async function isPlaced(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (!noLinks.has(code)) throw error;
  }
  // The name is taken first, so that nobody else's file is replaced.
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
