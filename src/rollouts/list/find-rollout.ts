import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** Codex keeps rollouts in `sessions/2026/11/16`, and archived ones in a flat folder. */
const trees = ["sessions", "archived_sessions"];
const maxDepth = 3;
/** Further rollouts count as missing. */
const maxRollouts = 200_000;
const idAtEnd = /(?:^|[-_])([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/;

/**
 * Finds other rollouts by the id at the end of their names: beside a rollout, then in Codex's tree around it,
 * archived ones last. Folders are read on the first lookup, and only once.
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

/** Returns nothing when the folder is not part of a Codex home. */
function treesAround(folder: string): string[] {
  let inside = folder;
  for (let depth = 0; depth <= maxDepth; depth += 1) {
    const home = dirname(inside);
    if (trees.includes(basename(inside))) return trees.map((name) => join(home, name));
    inside = home;
  }
  return [];
}

/** Maps ids to paths; the first of several files with the same id counts. */
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
