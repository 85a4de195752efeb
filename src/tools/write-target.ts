import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { FileProblem } from "./file-problem.js";
import type { ToolScope } from "./tool.js";

/** Where a write will go: from a folder that is trusted, through folders that may have to be made. */
export interface WriteTarget {
  readonly realPath: string;
  readonly root: string;
  readonly folders: readonly string[];
  readonly name: string;
}

const notAFile = "it is a folder, not a regular file";

/** Follows every symbolic link, so that what is judged is what will be written; rejects for what lies outside. */
export async function writeTarget(path: string, { cwd, sandbox }: ToolScope): Promise<WriteTarget> {
  const workspace = await realpath(cwd);
  const realPath = await realTarget(resolve(cwd, path));
  if (realPath === workspace) throw new FileProblem(notAFile);
  const isInside = realPath.startsWith(workspace.endsWith("/") ? workspace : `${workspace}/`);
  if (!isInside && sandbox !== "danger-full-access") {
    throw new FileProblem(`${realPath} is outside of the working folder ${workspace}`);
  }
  const root = isInside ? workspace : "/";
  const names = realPath.slice(root.length).split("/").filter(Boolean);
  const name = names.pop();
  if (name === undefined) throw new FileProblem(notAFile);
  return { realPath, root, folders: names, name };
}

async function realTarget(path: string): Promise<string> {
  const isLink = await lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
  if (!isLink) return join(await realFolder(dirname(path)), basename(path));
  return await realpath(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new FileProblem("it is a symbolic link that leads nowhere") : error;
  });
}

/** Of a folder that need not be there: what is there of it is real, the rest is added. */
async function realFolder(folder: string): Promise<string> {
  return await realpath(folder).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" || folder === dirname(folder)) throw error;
    return join(await realFolder(dirname(folder)), basename(folder));
  });
}
