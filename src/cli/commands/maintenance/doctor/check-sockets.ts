import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isStaleSocket } from "../../../../rollouts/file/sweep-sockets.js";
import { checkRights } from "./check-rights.js";
import type { StoreFinding } from "./finding.js";

/** Checks the directory with the sockets of processes that write conversations. */
export async function checkSockets(directory: string, look: { uid: number; now: number }): Promise<StoreFinding[]> {
  const stats = await lstat(directory).catch(() => undefined);
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [{ kind: "not_a_directory", path: directory }];
  const rights = checkRights({ path: directory, stats, uid: look.uid, ownership: "ours" });
  const sockets = await countLeft(directory, look.now);
  return sockets === 0 ? rights : [...rights, { kind: "dead_sockets", path: directory, sockets }];
}

async function countLeft(directory: string, now: number): Promise<number> {
  const names = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith(".sock"));
  let left = 0;
  for (const name of names) {
    if (await isStaleSocket(join(directory, name), now).catch(() => false)) left += 1;
  }
  return left;
}
