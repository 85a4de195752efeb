import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { answers } from "./lock-owner.js";

/** A socket that is so old is listened on, or nobody ever will: its process is not just about to. */
const settledMs = 60 * 60 * 1000;
/** A killed process leaves one socket; whoever starts later removes a few. */
const maxSwept = 32;

/** Removes the sockets of processes that were killed and left no lock by which they would be found. */
export async function sweepSockets(directory: string, now: number): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sock")).slice(0, maxSwept);
  await Promise.all(names.map((name) => sweep(join(directory, name), now).catch(() => undefined)));
}

async function sweep(path: string, now: number): Promise<void> {
  const { mtimeMs } = await stat(path);
  if (now - mtimeMs > settledMs && (await answers(path)) === "refused") await rm(path, { force: true });
}
