import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { FileProblem } from "../files/file-problem.js";

/** Resolves a path whose last parts need not exist: the existing part is made real, and the rest is appended. */
export async function resolveTarget(path: string): Promise<string> {
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
