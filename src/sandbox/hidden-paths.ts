import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { isSecretFile } from "../tools/policy/secret-files.js";
import type { Mount } from "./bwrap-arguments.js";

/** A workspace with more entries is searched for files with secrets only so far. */
const maxEntries = 50_000;

/** Folders with files of others, in which names of secret files are common and mean nothing. */
const skipped: ReadonlySet<string> = new Set([".git", "node_modules", "site-packages", "vendor", "target"]);

/** Shows the existing files among these paths as empty ones, and the folders without their content. */
export async function findHidden(paths: readonly (string | undefined)[]): Promise<Mount[]> {
  const found = await Promise.all(paths.filter((path) => path !== undefined).map(hiddenAt));
  return found.filter((mount) => mount !== undefined);
}

/** Finds the files with secrets in a workspace by their names. */
export async function findSecretFiles(workspace: string): Promise<Mount[]> {
  const found: Promise<Mount | undefined>[] = [];
  const folders = [workspace];
  let entries = 0;
  for (let folder = folders.shift(); folder !== undefined && entries < maxEntries; folder = folders.shift()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      entries += 1;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name)) folders.push(path);
      } else if (isSecretFile(entry.name)) found.push(hiddenAt(path));
    }
  }
  return (await Promise.all(found)).filter((mount) => mount !== undefined);
}

/** A link is followed: the file itself has to be hidden. */
async function hiddenAt(path: string): Promise<Mount | undefined> {
  try {
    const real = await realpath(path);
    const stats = await stat(real);
    if (stats.isDirectory()) return { kind: "empty-folder", path: real };
    return stats.isFile() ? { kind: "empty-file", path: real } : undefined;
  } catch {
    return undefined;
  }
}
