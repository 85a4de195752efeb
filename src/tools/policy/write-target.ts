import { realpath } from "node:fs/promises";
import { basename, dirname, relative, resolve } from "node:path";
import { FileProblem } from "../files/file-problem.js";
import { resolveTarget } from "./real-target.js";
import { refusePrivate } from "./refuse-private.js";
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
  const { cwd, sandbox } = scope;
  const workspace = await realpath(cwd);
  const realPath = await resolveTarget(resolve(cwd, path));
  const isInside = `${realPath}/`.startsWith(workspace.endsWith("/") ? workspace : `${workspace}/`);
  if (!isInside && sandbox !== "danger-full-access") {
    throw new FileProblem(`${realPath} is outside the working folder ${workspace}`);
  }
  await refusePrivate(realPath, scope);
  await statExisting(realPath);
  const root = isInside ? workspace : "/";
  const folders = relative(root, dirname(realPath)).split("/").filter(Boolean);
  return { realPath, root, folders, name: basename(realPath) };
}
