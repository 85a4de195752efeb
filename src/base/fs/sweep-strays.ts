import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isProcessDead } from "./is-dead.js";

/** Removes what processes that were killed left beside a file: what has its name, a dot and the number of the process. */
export async function sweepStrays(path: string): Promise<void> {
  const [directory, start] = [dirname(path), `${basename(path)}.`];
  const names = await readdir(directory).catch(() => []);
  const strays = names.filter((name) => name.startsWith(start) && isLeftBehind(name.slice(start.length)));
  await Promise.all(strays.map((name) => rm(join(directory, name), { force: true }).catch(() => undefined)));
}

function isLeftBehind(rest: string): boolean {
  const pid = /^(\d+)\./.exec(rest)?.[1];
  return pid !== undefined && isProcessDead(Number(pid));
}
