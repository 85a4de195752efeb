import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { FailureError } from "../../messages/failure-error.js";

/** Far above the few thousand bytes of a token file. */
const maxBytes = 1024 * 1024;

/** Reads another program's file; undefined when there is none that can be read. */
export async function readBorrowed(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return await textOf(file);
  } catch {
    return undefined;
  }
}

/**
 * Reads one of cody's own private files; undefined when it does not exist. A file that others can read gets mode 0600;
 * a symbolic link or another user's file is refused.
 */
export async function readPrivate(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { uid, mode } = await file.stat();
    const self = process.getuid?.();
    if (self !== undefined && uid !== self) throw refused(path, "it belongs to another user");
    if (process.platform !== "win32" && (mode & 0o077) !== 0) await file.chmod(0o600);
    const text = await textOf(file);
    if (text === undefined) throw refused(path, "it is not a regular file");
    return text;
  } catch (error) {
    if (error instanceof FailureError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw refused(path, code === "ELOOP" ? "it is a symbolic link" : (code ?? "unknown"));
  }
}

async function textOf(file: FileHandle): Promise<string | undefined> {
  const stats = await file.stat();
  if (!stats.isFile() || stats.size > maxBytes) return undefined;
  return await file.readFile("utf8");
}

function refused(path: string, why: string): FailureError {
  return new FailureError({ code: "auth", message: `${path} is ignored: ${why}`, retryable: false });
}
