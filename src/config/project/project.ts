import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { findCommonDirectory, findGitDirectory, readSmall } from "../../base/git/git-directory.js";
import type { GitInfo } from "../../messages/rollout-line.js";

/** The nearest ancestor with `.git`, which is a file in a worktree; without one, the folder itself. */
export async function findProjectRoot(cwd: string): Promise<string> {
  const start = resolve(cwd);
  // Checked in parallel: on a busy event loop, each check takes one iteration of the loop.
  const candidates = withAncestors(start).map((folder) => ({ folder, isRoot: isRepository(join(folder, ".git")) }));
  for (const { folder, isRoot } of candidates) {
    if (await isRoot) return folder;
  }
  return start;
}

/** The real path of the project that contains a folder; undefined if the folder no longer exists. */
export async function realRootOf(cwd: string): Promise<string | undefined> {
  return await realpath(await findProjectRoot(cwd)).catch(() => undefined);
}

/** Nearest first. */
function withAncestors(folder: string): string[] {
  const folders = [folder];
  for (let last = folder; last !== dirname(last); last = dirname(last)) folders.push(dirname(last));
  return folders;
}

/**
 * Reads git's files instead of running git, which would execute commands the project configured. A damaged repository
 * counts as none.
 */
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

/** In a URL with a scheme, everything before the last @ may be a password; `git@host:path` is not secret. */
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

/**
 * Whether there is `.git`. While a command runs in the sandbox, an empty folder to which nobody may write keeps it from
 * creating a repository there.
 */
async function isRepository(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return false;
  const mayBePlaceholder = stats.isDirectory() && (stats.mode & 0o222) === 0;
  return !mayBePlaceholder || (await readdir(path).catch(() => [path])).length > 0;
}

/** The root of the project that contains a folder, as a real path. */
export async function realProjectRoot(cwd: string): Promise<string> {
  return (await findProjectRoots(cwd)).realRoot;
}

/** The root of the project that contains a folder. */
export interface ProjectRoots {
  readonly root: string;
  /** The root as a real path. Trust is recorded for it: a link must not lend its trust to another folder. */
  readonly realRoot: string;
}

export async function findProjectRoots(cwd: string): Promise<ProjectRoots> {
  const [root, real] = await Promise.all([findProjectRoot(cwd), realpath(cwd).catch(() => resolve(cwd))]);
  return { root, realRoot: real === resolve(cwd) ? root : await findProjectRoot(real) };
}

/** Finds project roots. Callers that ask for the same folder at the same time share one search. */
export class ProjectFinder {
  readonly #searches = new Map<string, Promise<ProjectRoots>>();

  find(cwd: string): Promise<ProjectRoots> {
    const known = this.#searches.get(cwd);
    if (known !== undefined) return known;
    // Forgotten at its end, because a later search may find a repository that was created meanwhile.
    const search = findProjectRoots(cwd).finally(() => this.#searches.delete(cwd));
    this.#searches.set(cwd, search);
    return search;
  }
}
