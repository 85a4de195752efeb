import { realpath, stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { rejectSpecialFile } from "../files/file-problem.js";
import { refuseSystemFile } from "../files/open-for-model.js";
import { realPrivatePaths, refusePrivate } from "../policy/refuse-private.js";
import type { ToolScope } from "../tool.js";

/** The start of a search: the folder to run in, a path relative to it, and additional flags. */
export interface SearchStart {
  readonly cwd: string;
  readonly start: string;
  readonly flags: readonly string[];
  /** Globs that exclude private files; they win over all others. */
  readonly hidden: readonly string[];
}

/** Rejects anything but a folder or a regular file, and rejects system files and files with keys. */
export async function searchStart(path: string, scope: ToolScope): Promise<SearchStart> {
  const cwd = await realpath(scope.cwd);
  const real = await realpath(resolve(cwd, path));
  refuseSystemFile(real);
  await refusePrivate(real, scope);
  const stats = await stat(real);
  if (!stats.isDirectory()) rejectSpecialFile(stats);
  const inside = pathInside(cwd, real);
  const start = inside === undefined ? real : inside === "" ? "." : `./${inside}`;
  const globs = (await realPrivatePaths(scope)).map((found) => globOf(found, cwd));
  const hidden = globs.flatMap((glob) => [`--glob=!${glob}`, `--glob=!${glob}.*`]);
  // Starting at the root would include system files, which are on other file systems.
  return { cwd, start, flags: real === "/" ? ["--one-file-system"] : [], hidden };
}

/** The relative path from a folder to a path inside it; undefined if it is outside. */
function pathInside(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  return inside === ".." || inside.startsWith("../") ? undefined : inside;
}

/** ripgrep matches paths relative to its folder, and absolute paths outside of it. */
function globOf(path: string, cwd: string): string {
  const inside = pathInside(cwd, path);
  const literal = (inside ?? path).replaceAll(/[*?[\]{}\\]/g, "\\$&");
  return inside === undefined ? `**${literal}` : `/${literal}`;
}
