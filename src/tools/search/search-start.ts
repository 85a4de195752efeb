import { realpath, stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { refuseSpecialFile } from "../files/file-problem.js";
import { refuseSystemFile } from "../files/open-regular.js";
import { realPrivatePaths, refusePrivate } from "../policy/refuse-private.js";
import type { ToolScope } from "../tool.js";

/** Where a search begins: a path as seen from the folder it is run in, and what it needs there. */
export interface SearchStart {
  readonly cwd: string;
  readonly start: string;
  readonly flags: readonly string[];
  /** Globs for what must not be found, which count more than any other. */
  readonly hidden: readonly string[];
}

/** Rejects for what is neither a folder nor a regular file, for the system's own, and for what holds keys. */
export async function searchStart(path: string, scope: ToolScope): Promise<SearchStart> {
  const cwd = await realpath(scope.cwd);
  const real = await realpath(resolve(cwd, path));
  refuseSystemFile(real);
  await refusePrivate(real, scope);
  const stats = await stat(real);
  if (!stats.isDirectory()) refuseSpecialFile(stats);
  const inside = pathInside(cwd, real);
  const start = inside === undefined ? real : inside === "" ? "." : `./${inside}`;
  const globs = (await realPrivatePaths(scope)).map((found) => globOf(found, cwd));
  const hidden = globs.flatMap((glob) => [`--glob=!${glob}`, `--glob=!${glob}.*`]);
  // From the root the system's own files would be found, which are other file systems.
  return { cwd, start, flags: real === "/" ? ["--one-file-system"] : [], hidden };
}

/** A path as seen from a folder it lies in. */
function pathInside(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  return inside === ".." || inside.startsWith("../") ? undefined : inside;
}

/** ripgrep compares with paths as they are seen from its folder, and with whole ones outside of it. */
function globOf(path: string, cwd: string): string {
  const inside = pathInside(cwd, path);
  const literal = (inside ?? path).replaceAll(/[*?[\]{}\\]/g, "\\$&");
  return inside === undefined ? `**${literal}` : `/${literal}`;
}
