import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isProcessDead } from "../process/process-state.js";

/** Removes temporary files that killed processes left beside `path`: their names are `<name>.<pid>.…`. */
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
