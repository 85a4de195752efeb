import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";

const maxFileBytes = 4 * 1024 * 1024;

/** What all worktrees of a repository share. */
export async function commonGitDirectory(root: string): Promise<string> {
  return await findCommonDirectory(await findGitDirectory(root));
}

export async function findGitDirectory(root: string): Promise<string> {
  const path = join(root, ".git");
  return (await stat(path)).isDirectory() ? path : gitDirectoryNamed(root, (await readSmall(path)) ?? "");
}

/** A worktree's `.git` is a file that names its directory; `text` is what the file says, or nothing. */
export function gitDirectoryNamed(root: string, text: string): string {
  const target = /^gitdir: (.+)$/m.exec(text)?.[1];
  return target === undefined ? join(root, ".git") : resolve(root, target.trim());
}

/** Branches, packed refs and the configuration of a worktree lie with its main repository. */
export async function findCommonDirectory(gitDirectory: string): Promise<string> {
  return commonDirectoryNamed(gitDirectory, (await readSmall(join(gitDirectory, "commondir"))) ?? "");
}

/** The same where the text of its `commondir` is known. */
export function commonDirectoryNamed(gitDirectory: string, text: string): string {
  const common = text.trim();
  return common === "" ? gitDirectory : resolve(gitDirectory, common);
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
