import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { makeDirectory } from "./make-directory.js";
import { sweepStrays } from "./sweep-strays.js";

/** Replaces a file whole: a reader, a crash or a second writer finds the old text or the new one, never a mixture. */
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
  // The new name is durable only once its directory is.
  await syncDirectory(directory);
  await sweepStrays(path);
}

/** Makes a file nobody else can read and that did not exist; a symbolic link in its place is refused. */
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
