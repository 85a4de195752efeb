import { type BigIntStats, constants } from "node:fs";
import { access, lstat, open, rename, rm } from "node:fs/promises";
import { FileProblem, rejectSpecialFile } from "./file-problem.js";
import { type FileStamp, stampOf } from "./file-stamps.js";
import type { OpenFolder } from "./open-folder.js";
import { newTemporaryName } from "./temporary-name.js";

const permissionBits = 0o777;

interface ReplacedFile {
  readonly stamp: FileStamp;
  readonly isNew: boolean;
}

/**
 * Replaces a file atomically: a reader sees the old content or the new one. `accept` receives the existing file's stats
 * before anything is written and again just before the rename, and throws if the file must be kept.
 */
export async function replaceFile(
  folder: OpenFolder,
  name: string,
  content: string,
  accept: (old: BigIntStats | undefined) => void,
): Promise<ReplacedFile> {
  const path = folder.at(name);
  const old = await statExisting(path);
  accept(old);
  // A rename needs permission only for the folder; a file that is not writable must be kept.
  if (old !== undefined) await access(path, constants.W_OK);
  const temporary = folder.at(`${newTemporaryName()}.tmp`);
  try {
    const stamp = await writeTemporary(temporary, content, old);
    await folder.verify();
    const now = await statExisting(path);
    accept(now);
    rejectChanged(old, now);
    await rename(temporary, path);
    await folder.verify();
    return { stamp, isNew: old === undefined };
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Stats of the regular file at a path, undefined if there is none; rejects for everything else. */
export async function statExisting(path: string): Promise<BigIntStats | undefined> {
  try {
    const stats = await lstat(path, { bigint: true });
    rejectSpecialFile(stats);
    return stats;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Rejects if the file at the path is not the one found before. */
export function rejectChanged(old: BigIntStats | undefined, now: BigIntStats | undefined): void {
  const isSame = old === undefined || now === undefined ? old === now : stampOf(old) === stampOf(now);
  if (!isSame) throw new FileProblem("another program changed it at the same time, so it was not changed");
}

/**
 * Writes a temporary file with the permissions and, if allowed, the owner of another file; else with those of any new
 * file.
 */
export async function writeTemporary(path: string, content: string, like: BigIntStats | undefined): Promise<FileStamp> {
  const file = await open(path, "wx", like === undefined ? 0o666 : 0o600);
  try {
    await file.writeFile(content);
    if (like !== undefined) {
      await file.chown(Number(like.uid), Number(like.gid)).catch(() => undefined);
      await file.chmod(Number(like.mode) & permissionBits);
    }
    await file.sync();
    return stampOf(await file.stat({ bigint: true }));
  } finally {
    await file.close();
  }
}
