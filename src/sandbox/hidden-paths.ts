import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { readRegular } from "../base/fs/open-regular.js";
import { contentHash, type GitIndex, readGitIndex } from "../base/git/git-index.js";
import { findProjectRoot } from "../config/project/project.js";
import { isSecretFile } from "../tools/policy/secret-files.js";
import type { Mount } from "./bwrap-arguments.js";

/** A workspace with more entries is searched for files with secrets only so far. */
const maxEntries = 50_000;

/** Folders with files of others, in which names of secret files are common and mean nothing. */
const skipped: ReadonlySet<string> = new Set([".git", "node_modules", "site-packages", "vendor", "target"]);

/** A larger file counts as changed. */
const maxTrackedBytes = 1024 * 1024;

/** Shows the existing files among these paths as empty ones, and the folders without their content. */
export async function findHidden(paths: readonly (string | undefined)[]): Promise<Mount[]> {
  const found = await Promise.all(paths.filter((path) => path !== undefined).map(hiddenAt));
  return found.filter((mount) => mount !== undefined);
}

/** Finds the files with secrets in a workspace by their names. */
export async function findSecretFiles(workspace: string): Promise<Mount[]> {
  const paths: string[] = [];
  const folders = [workspace];
  let entries = 0;
  for (let folder = folders.shift(); folder !== undefined && entries < maxEntries; folder = folders.shift()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      entries += 1;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name)) folders.push(path);
      } else if (isSecretFile(entry.name)) paths.push(path);
    }
  }
  const repositories = new Map<string, Promise<GitIndex | undefined>>();
  const found = paths.map(async (path): Promise<Mount | undefined> => {
    const mount = await hiddenAt(path);
    if (mount?.kind !== "empty-file") return mount;
    const root = await findProjectRoot(dirname(mount.path));
    const index = repositories.get(root) ?? readGitIndex(root);
    repositories.set(root, index);
    return await unlessCommitted(mount, root, await index);
  });
  return (await Promise.all(found)).filter((mount) => mount !== undefined);
}

/**
 * A file that git tracks is no secret: commands can read it in the repository, and if it looked empty, the next commit
 * would empty it. So a tracked file is shown, and one that was changed since cannot be read, which git reports. Commands
 * can write to the index, but would have to know the content to have it shown.
 */
async function unlessCommitted(mount: Mount, root: string, index: GitIndex | undefined): Promise<Mount | undefined> {
  const hash = index?.hashes.get(relative(root, mount.path));
  if (index === undefined || hash === undefined) return mount;
  const content = await readRegular(mount.path, { links: "refuse", maxBytes: maxTrackedBytes }).catch(() => undefined);
  const isUnchanged = content !== undefined && contentHash(content, index.algorithm) === hash;
  return isUnchanged ? undefined : { kind: "unreadable-file", path: mount.path };
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
