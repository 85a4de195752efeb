import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";

const descriptors = "/proc/self/fd";

/** The files and folders below `directory` that this process has open; undefined without /proc. */
export async function openFilesBelow(directory: string): Promise<string[] | undefined> {
  const names = await readdir(descriptors).catch(() => undefined);
  if (names === undefined) return undefined;
  const paths = await Promise.all(names.map(async (name) => await readlink(join(descriptors, name)).catch(() => "")));
  return paths.filter((path) => path.startsWith(directory));
}
