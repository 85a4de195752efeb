import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";

const maxFileBytes = 4 * 1024 * 1024;

/** What all worktrees of a repository share. */
export async function commonGitDirectory(root: string): Promise<string> {
  return await findCommonDirectory(await findGitDirectory(root));
}

/** A worktree's `.git` is a file that names its directory. */
export async function findGitDirectory(root: string): Promise<string> {
  const path = join(root, ".git");
  if ((await stat(path)).isDirectory()) return path;
  const target = /^gitdir: (.+)$/m.exec((await readSmall(path)) ?? "")?.[1];
  return target === undefined ? path : resolve(root, target.trim());
}

/** Branches, packed refs and the configuration of a worktree lie with its main repository. */
export async function findCommonDirectory(gitDirectory: string): Promise<string> {
  const common = (await readSmall(join(gitDirectory, "commondir")))?.trim();
  return common === undefined || common === "" ? gitDirectory : resolve(gitDirectory, common);
}

/** A file's text; undefined when there is none or it is far larger than git makes it. */
export async function readSmall(path: string): Promise<string | undefined> {
  try {
    const info = await stat(path);
    return info.isFile() && info.size <= maxFileBytes ? await readFile(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
