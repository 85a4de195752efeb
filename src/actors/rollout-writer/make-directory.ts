import { dirname } from "node:path";
import { syncDirectory, type FileSystem } from "../../rollouts/file/file-system.js";

/**
 * Creates a directory and its missing parents with mode 0700, whatever the umask; existing ones stay as they are. Its
 * own entry need not be durable yet: the caller that puts something into it syncs it.
 */
export async function makeDurableDirectory(fileSystem: FileSystem, path: string): Promise<void> {
  if (await pathExists(fileSystem, path)) return;
  const parent = dirname(path);
  await makeDurableDirectory(fileSystem, parent);
  await syncDirectoryEntry(fileSystem, parent);
  try {
    await fileSystem.mkdir(path, 0o700);
  } catch (error) {
    // Another process created it first.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  await fileSystem.chmod(path, 0o700);
}

/** Errors of directories above ours: some cannot be read, and some do not support sync (autofs). */
const ignoredSyncErrors = new Set<string | undefined>(["EACCES", "EINVAL"]);

/**
 * Makes a directory's own entry durable, even if another process created it: that one may have died before its sync.
 */
export async function syncDirectoryEntry(fileSystem: FileSystem, path: string): Promise<void> {
  try {
    await syncDirectory(fileSystem, dirname(path));
  } catch (error) {
    if (!ignoredSyncErrors.has((error as NodeJS.ErrnoException).code)) throw error;
  }
}

async function pathExists(fileSystem: FileSystem, path: string): Promise<boolean> {
  try {
    await fileSystem.lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
