import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { FileProblem } from "./file-problem.js";
import { existing } from "./replace-file.js";
import type { ToolScope } from "./tool.js";

/** Where a write will go: from a folder that is trusted, through folders that may have to be made. */
export interface WriteTarget {
  readonly realPath: string;
  readonly root: string;
  readonly folders: readonly string[];
  readonly name: string;
}

/** Follows every symbolic link, so that what is judged is what will be written; rejects for what must not be. */
export async function writeTarget(path: string, { cwd, sandbox }: ToolScope): Promise<WriteTarget> {
  const workspace = await realpath(cwd);
  const realPath = await realTarget(resolve(cwd, path));
  const isInside = `${realPath}/`.startsWith(workspace.endsWith("/") ? workspace : `${workspace}/`);
  if (!isInside && sandbox !== "danger-full-access") {
    throw new FileProblem(`${realPath} is outside of the working folder ${workspace}`);
  }
  await existing(realPath);
  const root = isInside ? workspace : "/";
  const folders = relative(root, dirname(realPath)).split("/").filter(Boolean);
  return { realPath, root, folders, name: basename(realPath) };
}

/** Of a path whose last parts need not be there: what is there of it is real, the rest is added. */
async function realTarget(path: string): Promise<string> {
  return await realpath(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" || path === dirname(path)) throw error;
    if (await isLink(path)) throw new FileProblem(`${path} is a symbolic link that leads nowhere`);
    return join(await realTarget(dirname(path)), basename(path));
  });
}

async function isLink(path: string): Promise<boolean> {
  return await lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
}
