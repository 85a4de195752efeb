import { realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { GitInfo } from "../../messages/rollout-line.js";
import { findCommonDirectory, findGitDirectory, readSmall } from "../../base/git/git-directory.js";

/** The nearest ancestor with `.git`, which is a file in a worktree; without one the folder itself. */
export async function findProjectRoot(cwd: string): Promise<string> {
  const start = resolve(cwd);
  // All are asked at once: where the event loop is busy, each answer takes one round of it.
  const asked = withAncestors(start).map((folder) => ({ folder, isRoot: exists(join(folder, ".git")) }));
  for (const { folder, isRoot } of asked) {
    if (await isRoot) return folder;
  }
  return start;
}

/** The real path of the project a folder belongs to; undefined when the folder is gone. */
export async function realRootOf(cwd: string): Promise<string | undefined> {
  return await realpath(await findProjectRoot(cwd)).catch(() => undefined);
}

/** Whether a path lies in a folder or is that folder; both must be real paths. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** The nearest first. */
function withAncestors(folder: string): string[] {
  const folders = [folder];
  for (let last = folder; last !== dirname(last); last = dirname(last)) folders.push(dirname(last));
  return folders;
}

/** Read from git's files, because running git would run what the project configured. Damage is the same as no git. */
export async function readGitInfo(root: string): Promise<GitInfo | undefined> {
  try {
    const gitDirectory = await findGitDirectory(root);
    const head = (await readSmall(join(gitDirectory, "HEAD")))?.trim();
    if (head === undefined) return undefined;
    const common = await findCommonDirectory(gitDirectory);
    const ref = /^ref: (refs\/\S+)$/.exec(head)?.[1];
    const commit = ref === undefined ? hash(head) : await readRef([gitDirectory, common], ref);
    const branch = ref?.startsWith("refs/heads/") === true ? ref.slice("refs/heads/".length) : undefined;
    const url = originUrl((await readSmall(join(common, "config"))) ?? "");
    return {
      ...(commit === undefined ? {} : { commit_hash: commit }),
      ...(branch === undefined ? {} : { branch }),
      ...(url === undefined ? {} : { repository_url: url }),
    };
  } catch {
    return undefined;
  }
}

async function readRef(directories: readonly string[], ref: string): Promise<string | undefined> {
  if (ref.split("/").includes("..")) return undefined;
  for (const directory of directories) {
    const loose = hash((await readSmall(join(directory, ref)))?.trim());
    if (loose !== undefined) return loose;
  }
  const packed = (await readSmall(join(directories.at(-1) ?? "", "packed-refs"))) ?? "";
  const line = packed.split("\n").find((text) => text.endsWith(` ${ref}`));
  return hash(line?.split(" ")[0]);
}

function originUrl(config: string): string | undefined {
  let section = "";
  for (const line of config.split("\n").map((text) => text.trim())) {
    if (line.startsWith("[")) section = line;
    const url = /^url\s*=\s*(\S+)$/.exec(line)?.[1];
    if (section === '[remote "origin"]' && url !== undefined) return withoutCredentials(url);
  }
  return undefined;
}

/** Everything before the last @ of an address with a scheme may be a password; `git@host:path` is no secret. */
function withoutCredentials(url: string): string {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*:\/\/)(.*)$/i.exec(url) ?? [];
  if (scheme === undefined || rest === undefined) return url;
  const slash = rest.indexOf("/");
  const authority = slash === -1 ? rest : rest.slice(0, slash);
  return scheme + authority.slice(authority.lastIndexOf("@") + 1) + (slash === -1 ? "" : rest.slice(slash));
}

function hash(text: string | undefined): string | undefined {
  return text !== undefined && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text) ? text : undefined;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
