import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createFlags } from "../../base/fs/open-regular.js";
import { syncDirectory, writeAll } from "./file-system.js";
import { companionPath } from "../layout.js";
import type { RepairFiles } from "./replacement.js";

const blobName = /^[0-9a-f]{64}$/;

/** Returns the folder of blobs: full tool outputs of which the model saw only a part, one file per content. */
export function blobFolder(rolloutPath: string): string {
  return companionPath(rolloutPath, "blobs");
}

export function isBlobName(name: string): boolean {
  return blobName.test(name);
}

export function blobHash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Returns the total size of the blobs; 0 if the folder does not exist. */
export async function blobBytes(files: RepairFiles, folder: string): Promise<number> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  let bytes = 0;
  for (const name of names) bytes += (await files.lstat(join(folder, name))).size;
  return bytes;
}

/** Whether a blob with this hash, and therefore this content, is stored already. */
export async function hasBlob(files: RepairFiles, folder: string, sha256: string): Promise<boolean> {
  return await files.lstat(join(folder, sha256)).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

/** Writes a blob atomically; its folder must exist. */
export async function writeBlob(files: RepairFiles, folder: string, sha256: string, bytes: Uint8Array): Promise<void> {
  const temporary = join(folder, `${sha256}.${randomBytes(8).toString("hex")}.tmp`);
  try {
    const fd = await files.open(temporary, createFlags, 0o600);
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
