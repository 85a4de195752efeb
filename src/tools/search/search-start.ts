import { realpath, stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { refuseSpecialFile } from "../file-problem.js";
import { refuseSystemFile } from "../open-regular.js";

/** Where a search begins: a path as seen from the folder it is run in, and what it needs there. */
export interface SearchStart {
  readonly cwd: string;
  readonly start: string;
  readonly flags: readonly string[];
}

/** Rejects for what is neither a folder nor a regular file, and for the system's own. */
export async function searchStart(path: string, folder: string): Promise<SearchStart> {
  const cwd = await realpath(folder);
  const real = await realpath(resolve(cwd, path));
  refuseSystemFile(real);
  const stats = await stat(real);
  if (!stats.isDirectory()) refuseSpecialFile(stats);
  const inside = relative(cwd, real);
  const start = inside === "" ? "." : inside === ".." || inside.startsWith("../") ? real : `./${inside}`;
  // From the root the system's own files would be found, which are other file systems.
  return { cwd, start, flags: real === "/" ? ["--one-file-system"] : [] };
}
