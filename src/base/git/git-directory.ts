import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readRegular } from "../fs/open-regular.js";

const maxFileBytes = 4 * 1024 * 1024;

/** The git directory that all worktrees of a repository share. */
export async function commonGitDirectory(root: string): Promise<string> {
  return await findCommonDirectory(await findGitDirectory(root));
}

export async function findGitDirectory(root: string): Promise<string> {
  const path = join(root, ".git");
  return (await stat(path)).isDirectory() ? path : gitDirectoryNamed(root, (await readSmall(path)) ?? "");
}

/** Resolves the git directory. In a worktree `.git` is a file that names it; `text` is its content, or empty. */
export function gitDirectoryNamed(root: string, text: string): string {
  const target = /^gitdir: (.+)$/m.exec(text)?.[1];
  return target === undefined ? join(root, ".git") : resolve(root, target.trim());
}

/** Branches, packed refs and the configuration of a worktree are stored in its main repository. */
export async function findCommonDirectory(gitDirectory: string): Promise<string> {
  return commonDirectoryNamed(gitDirectory, (await readSmall(join(gitDirectory, "commondir"))) ?? "");
}

/** Like `findCommonDirectory`, for a `commondir` file whose text has already been read. */
export function commonDirectoryNamed(gitDirectory: string, text: string): string {
  const common = text.trim();
  return common === "" ? gitDirectory : resolve(gitDirectory, common);
}

/** Reads a file; undefined if it does not exist or is far larger than git makes it. */
export async function readSmall(path: string): Promise<string | undefined> {
  try {
    return (await readRegular(path, { links: "follow", maxBytes: maxFileBytes })).toString();
  } catch {
    return undefined;
  }
}
