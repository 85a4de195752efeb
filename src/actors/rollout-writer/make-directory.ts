import { dirname } from "node:path";
import { syncDirectory, type FileSystem } from "../../rollouts/file-system.js";

/** Makes a directory and those above it, each for this user alone whatever the umask; what exists stays as it is. */
export async function makeDirectory(fileSystem: FileSystem, path: string): Promise<void> {
  try {
    await fileSystem.mkdir(path, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    await makeDirectory(fileSystem, dirname(path));
    await makeDirectory(fileSystem, path);
    return;
  }
  await fileSystem.chmod(path, 0o700);
  await syncDirectory(fileSystem, dirname(path));
}
