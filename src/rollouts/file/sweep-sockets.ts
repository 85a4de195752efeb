import { readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { probeSocket } from "./lock-owner.js";
import { isProcessDead } from "../../base/process/is-dead.js";
import { otherRuntimeDirectory, socketPid } from "./runtime-directory.js";

/** Minimum age of a socket to remove when its name contains no pid. */
const settledMs = 60 * 60 * 1000;
/** Limits the work of one start; the next one removes more. */
const maxSwept = 256;

/** Removes the sockets of processes that ended without removing them, also in the fallback directory. */
export async function sweepSockets(directory: string, now: number): Promise<void> {
  const other = await otherRuntimeDirectory(directory);
  let left = maxSwept;
  for (const place of other === undefined ? [directory] : [directory, other]) {
    const names = (await readdir(place).catch(() => [])).filter((name) => name.endsWith(".sock"));
    for (const name of names) {
      if (left === 0) return;
      if (await removeIfStale(join(place, name), now).catch(() => false)) left -= 1;
    }
  }
}

/**
 * Whether the process that listened on a socket is certainly gone. A live process does not answer yet between
 * creating its socket and listening on it.
 */
export async function isStaleSocket(path: string, now: number): Promise<boolean> {
  const stats = await stat(path);
  if (!stats.isSocket()) return false;
  const pid = socketPid(basename(path));
  const hasEnded = pid !== undefined && isProcessDead(pid);
  return (hasEnded || now - stats.mtimeMs > settledMs) && (await probeSocket(path)) === "refused";
}

/** Returns whether the socket was removed. */
async function removeIfStale(path: string, now: number): Promise<boolean> {
  if (!(await isStaleSocket(path, now))) return false;
  await rm(path, { force: true });
  return true;
}
