import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { answers } from "./lock-owner.js";

/** A socket that is so old is listened on, or nobody ever will: its process is not just about to. */
const settledMs = 60 * 60 * 1000;
/** A killed process leaves one socket; whoever starts later removes a few. */
const maxSwept = 32;

/** Removes the sockets of processes that were killed and left no lock by which they would be found. */
export async function sweepSockets(directory: string, now: number): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sock"));
  let left = maxSwept;
  for (const name of names) {
    if (left === 0) return;
    if (await sweep(join(directory, name), now).catch(() => false)) left -= 1;
  }
}

/** Whether the process that listened on a socket is certainly gone. */
export async function isLeftSocket(path: string, now: number): Promise<boolean> {
  const { mtimeMs } = await stat(path);
  return now - mtimeMs > settledMs && (await answers(path)) === "refused";
}

/** Says whether it was removed. */
async function sweep(path: string, now: number): Promise<boolean> {
  if (!(await isLeftSocket(path, now))) return false;
  await rm(path, { force: true });
  return true;
}
