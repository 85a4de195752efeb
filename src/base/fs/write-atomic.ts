import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { makeDirectory } from "./make-directory.js";
import { sweepStrays } from "./sweep-strays.js";

/** Replaces the whole file: a reader, a crash or a second writer sees the old text or the new text, never a mixture. */
export async function writeAtomic(path: string, text: string): Promise<void> {
  const directory = dirname(path);
  const temporary = `${path}.${process.pid}.${randomUUID()}.tmp`;
  await makeDirectory(directory);
  try {
    await writeNew(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  // The rename is durable only after the directory has been synced.
  await syncDirectory(directory);
  await sweepStrays(path);
}

/** Creates a file that only this user can read. Fails if the path exists, even as a symbolic link. */
export async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
