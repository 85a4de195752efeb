import { dirname } from "node:path";
import { syncDirectory, type FileSystem } from "../../rollouts/file/file-system.js";

/**
 * Makes a directory and those above it, each for this user alone whatever the umask; what exists stays as it is. Its
 * own name need not be durable yet: that is for who puts something into it.
 */
export async function makeDurableDirectory(fileSystem: FileSystem, path: string): Promise<void> {
  if (await isThere(fileSystem, path)) return;
  const parent = dirname(path);
  await makeDurableDirectory(fileSystem, parent);
  await syncName(fileSystem, parent);
  try {
    await fileSystem.mkdir(path, 0o700);
  } catch (error) {
    // Somebody was faster.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  await fileSystem.chmod(path, 0o700);
}

/** It stands above what is ours: of others' directories some may not be read, and some have no sync (autofs). */
const notOurs = new Set<string | undefined>(["EACCES", "EINVAL"]);

/** Makes the name of a directory durable, whoever made it: that one may have died before it could. */
export async function syncName(fileSystem: FileSystem, path: string): Promise<void> {
  try {
    await syncDirectory(fileSystem, dirname(path));
  } catch (error) {
    if (!notOurs.has((error as NodeJS.ErrnoException).code)) throw error;
  }
}

async function isThere(fileSystem: FileSystem, path: string): Promise<boolean> {
  try {
    await fileSystem.lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
