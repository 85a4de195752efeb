import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** Codex keeps rollouts in `sessions/2026/11/16`, and what is archived without folders. */
const trees = ["sessions", "archived_sessions"];
const maxDepth = 3;
/** Beyond this many rollouts the rest counts as missing. */
const maxRollouts = 200_000;
const idAtEnd = /(?:^|[-_])([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/;

/**
 * Finds other rollouts by the id their names end in: beside a rollout, then in the tree of Codex it stands in, archived
 * ones last. Folders are read when somebody looks for the first one, and only once.
 */
export function rolloutFinder(path: string): (id: string) => Promise<string | undefined> {
  const folder = dirname(resolve(path));
  let beside: Promise<ReadonlyMap<string, string>> | undefined;
  let around: Promise<ReadonlyMap<string, string>> | undefined;
  return async (id) => {
    beside ??= rolloutsIn([folder], 0);
    const found = (await beside).get(id);
    if (found !== undefined) return found;
    around ??= rolloutsIn(treesAround(folder), maxDepth);
    return (await around).get(id);
  };
}

/** None when the folder does not belong to a home of Codex. */
function treesAround(folder: string): string[] {
  let inside = folder;
  for (let depth = 0; depth <= maxDepth; depth += 1) {
    const home = dirname(inside);
    if (trees.includes(basename(inside))) return trees.map((name) => join(home, name));
    inside = home;
  }
  return [];
}

/** The paths by id; of two with the same id the first counts. */
async function rolloutsIn(folders: readonly string[], depth: number): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const waiting = folders.map((folder) => ({ folder, depth })).toReversed();
  for (let next = waiting.pop(); next !== undefined && found.size < maxRollouts; next = waiting.pop()) {
    for (const entry of await entriesOf(next.folder)) {
      const path = join(next.folder, entry.name);
      const id = entry.isFile() ? idAtEnd.exec(entry.name)?.[1] : undefined;
      if (id !== undefined && !found.has(id)) found.set(id, path);
      if (entry.isDirectory() && next.depth > 0) waiting.push({ folder: path, depth: next.depth - 1 });
    }
  }
  return found;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
