import { chmod, mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/** Creates a directory and its missing parents with mode 0700 whatever the umask. Existing ones are not changed. */
export async function makeDirectory(path: string): Promise<void> {
  const created = await make(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" || dirname(path) === path) throw error;
    await makeDirectory(dirname(path));
    return await make(path);
  });
  if (created) await chmod(path, 0o700);
}

/** Returns false if the directory already existed. */
async function make(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
