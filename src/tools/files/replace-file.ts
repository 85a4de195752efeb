import { type BigIntStats, constants } from "node:fs";
import { access, lstat, open, rename, rm } from "node:fs/promises";
import { FileProblem, refuseSpecialFile } from "./file-problem.js";
import { type FileStamp, isSameStamp, stampOf } from "./file-stamps.js";
import type { OpenFolder } from "./open-folder.js";
import { newStrayName } from "./stray-name.js";

const permissionBits = 0o777;

export interface Replaced {
  readonly stamp: FileStamp;
  readonly isNew: boolean;
}

/**
 * Replaces a file whole: whoever reads it finds the old content or the new one. `accept` looks at what stands there,
 * before anything is written and again at the last moment, and throws when it must stay.
 */
export async function replaceFile(
  folder: OpenFolder,
  name: string,
  content: string,
  accept: (old: BigIntStats | undefined) => void,
): Promise<Replaced> {
  const path = folder.at(name);
  const old = await existing(path);
  accept(old);
  // A rename asks only the folder for permission; a file that may not be written stays as it is.
  if (old !== undefined) await access(path, constants.W_OK);
  const temporary = folder.at(`${newStrayName()}.tmp`);
  try {
    const stamp = await writeTemporary(temporary, content, old);
    await folder.verify();
    const now = await existing(path);
    accept(now);
    refuseChange(old, now);
    await rename(temporary, path);
    await folder.verify();
    return { stamp, isNew: old === undefined };
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** What stands in the place of a file: nothing, or a regular file; rejects for everything else. */
export async function existing(path: string): Promise<BigIntStats | undefined> {
  try {
    const stats = await lstat(path, { bigint: true });
    refuseSpecialFile(stats);
    return stats;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Rejects when what stands there is not what stood there before. */
export function refuseChange(old: BigIntStats | undefined, now: BigIntStats | undefined): void {
  const isSame = old === undefined || now === undefined ? old === now : isSameStamp(stampOf(old), stampOf(now));
  if (!isSame) throw new FileProblem("someone else changed it at the same time, and it was left as it is");
}

/** With the permissions and, where we may, the owner of another file; else with those of any new file. */
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
