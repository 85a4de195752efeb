import type { BigIntStats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { memoizeByObject } from "../../base/memoize.js";

const maxFiles = 20_000;
const maxDepth = 3;

type Inode = Pick<BigIntStats, "dev" | "ino" | "nlink">;

/** The files among these, and in these folders, that also have another name: only those can be reached by a hard link. */
const linkedFiles = memoizeByObject(async (paths: readonly string[]): Promise<ReadonlySet<string>> => {
  const found = new Set<string>();
  for (const path of paths) {
    await walkFiles(path, (_, stats) => {
      if (stats.nlink > 1n) found.add(inodeOf(stats));
      return true;
    });
  }
  return found;
});

/** Whether a file is one of these files, or in one of these folders, under another name. */
export async function isLinkTo(stats: Inode, paths: readonly string[]): Promise<boolean> {
  return stats.nlink > 1n && (await linkedFiles(paths)).has(inodeOf(stats));
}

/** The names in a folder under which files of `paths` can be reached too. */
export async function linksTo(folder: string, paths: readonly string[]): Promise<string[]> {
  const inodes = await linkedFiles(paths);
  if (inodes.size === 0) return [];
  const names: string[] = [];
  await walkFiles(
    folder,
    (path, stats) => {
      if (inodes.has(inodeOf(stats))) names.push(path);
      return names.length < maxFiles;
    },
    Number.POSITIVE_INFINITY,
  );
  return names;
}

function inodeOf({ dev, ino }: Inode): string {
  return `${dev} ${ino}`;
}

/** Visits a file, or the files of a folder; symbolic links are not followed. */
async function walkFiles(
  path: string,
  visit: (path: string, stats: BigIntStats) => boolean,
  depth = maxDepth,
): Promise<void> {
  let left = maxFiles;
  const enter = async (at: string, below: number): Promise<boolean> => {
    left -= 1;
    const stats = await lstat(at, { bigint: true }).catch(() => undefined);
    if (stats === undefined) return true;
    if (left < 0) return false;
    if (!stats.isDirectory()) return visit(at, stats);
    if (below < 0) return true;
    for (const name of await readdir(at).catch(() => [])) {
      if (!(await enter(join(at, name), below - 1))) return false;
    }
    return true;
  };
  await enter(path, depth);
}
