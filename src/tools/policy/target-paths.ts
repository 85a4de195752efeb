import { realpath, lstat } from "node:fs/promises";
import { basename, dirname, relative, resolve, join } from "node:path";
import { FileProblem } from "../files/file-problem.js";
import { statExisting } from "../files/replace-file.js";
import type { ToolScope } from "../tool.js";

/** The destination of a write: a trusted root, then folders that may have to be created. */
export interface WriteTarget {
  readonly realPath: string;
  readonly root: string;
  readonly folders: readonly string[];
  readonly name: string;
}

/** Follows every symbolic link, so that the judged path is the one that is written; rejects forbidden paths. */
export async function writeTarget(path: string, scope: ToolScope): Promise<WriteTarget> {
  const { cwd, sandbox, isJudged = false } = scope;
  const workspace = await realpath(cwd);
  const realPath = await resolveTarget(resolve(cwd, path));
  const isInside = `${realPath}/`.startsWith(workspace.endsWith("/") ? workspace : `${workspace}/`);
  if (!isInside && !isJudged && sandbox !== "danger-full-access") {
    throw new FileProblem(`${realPath} is outside the working folder ${workspace}`);
  }
  await refusePrivate(realPath, scope);
  await statExisting(realPath);
  const root = isInside ? workspace : "/";
  const folders = relative(root, dirname(realPath)).split("/").filter(Boolean);
  return { realPath, root, folders, name: basename(realPath) };
}

/** Resolves a path whose last parts need not exist: the existing part is made real, and the rest is appended. */
async function resolveTarget(path: string): Promise<string> {
  return await realpath(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" || path === dirname(path)) throw error;
    if (await isLink(path)) throw new FileProblem(`${path} is a broken symbolic link`);
    return join(await resolveTarget(dirname(path)), basename(path));
  });
}

async function isLink(path: string): Promise<boolean> {
  return await lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
}

/** Rejects paths to tokens and keys, through whichever links they were reached. */
export async function refusePrivate(realPath: string, scope: Pick<ToolScope, "privatePaths">): Promise<void> {
  const known = await realPrivatePaths(scope);
  // A path followed by a dot and a suffix is a lock, a copy or a temporary file.
  if (known.some((path) => realPath === path || [`${path}/`, `${path}.`].some((start) => realPath.startsWith(start)))) {
    throw new FileProblem("tools cannot access tokens, keys and settings of cody and other programs");
  }
}

/** Resolved on each call: a home or a configuration may be a link to another place. */
export async function realPrivatePaths({ privatePaths }: Pick<ToolScope, "privatePaths">): Promise<string[]> {
  return await Promise.all(privatePaths.map((path) => resolveTarget(path).catch(() => path)));
}
