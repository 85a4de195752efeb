import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory, writeAll } from "./file-system.js";
import { besideRollout } from "../layout.js";
import type { RepairFiles } from "../repair/repair-files.js";

const blobName = /^[0-9a-f]{64}$/;

/** Where it is kept what the model never saw: the whole of an output it got a part of. One file for each content. */
export function blobFolder(rolloutPath: string): string {
  return besideRollout(rolloutPath, "blobs");
}

export function isBlobName(name: string): boolean {
  return blobName.test(name);
}

export function blobHash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** How much is kept in a folder; nothing where there is none. */
export async function blobBytes(files: RepairFiles, folder: string): Promise<number> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  let bytes = 0;
  for (const name of names) bytes += (await files.lstat(join(folder, name))).size;
  return bytes;
}

/** Whether something of this name, and so of this content, is kept already. */
export async function hasBlob(files: RepairFiles, folder: string, sha256: string): Promise<boolean> {
  return await files.lstat(join(folder, sha256)).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

/** Writes a blob whole or not at all; its folder must be there. */
export async function writeBlob(files: RepairFiles, folder: string, sha256: string, bytes: Uint8Array): Promise<void> {
  const temporary = join(folder, `${sha256}.${randomBytes(8).toString("hex")}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  try {
    const fd = await files.open(temporary, flags, 0o600);
    try {
      await files.fchmod(fd, 0o600);
      await writeAll(files, fd, bytes);
      await files.fsync(fd);
    } finally {
      await files.close(fd);
    }
    await files.rename(temporary, join(folder, sha256));
  } catch (error) {
    await files.remove(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(files, folder);
}
