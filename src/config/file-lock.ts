import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { FailureError } from "../messages/errors.js";
import { isDead, sweepStrays } from "./sweep-strays.js";
import { writeNew } from "./write-atomic.js";

const retryMs = 25;
/** Most keep the lock for milliseconds: after this many looks at the same holder, a dead one's lock is taken. */
const looksAtDead = 40;

export interface LockOptions {
  /** After so long of the same holder, its lock is taken although it lives. */
  readonly holdMs?: number;
}

/** Runs `work` while no other process runs any under the same lock file; waits for its turn at most three times as long. */
export async function withFileLock<T>(
  lock: string,
  work: () => Promise<T>,
  { holdMs = 10_000 }: LockOptions = {},
): Promise<T> {
  // Written first and linked into place, so that a lock is never seen half written.
  const token = `${process.pid} ${randomUUID()}`;
  const own = `${lock}.${token.replace(" ", ".")}`;
  await writeNew(own, token);
  try {
    await acquire(lock, own, Math.ceil(holdMs / retryMs));
    try {
      await sweepStrays(lock);
      return await work();
    } finally {
      if ((await read(lock)) === token) await rm(lock, { force: true });
    }
  } finally {
    await rm(own, { force: true });
  }
}

async function acquire(lock: string, own: string, looksAtAnyone: number): Promise<void> {
  let seen: string | undefined;
  let looks = 0;
  for (let total = 0; total < 3 * looksAtAnyone; total += 1) {
    if (await linked(own, lock)) return;
    const holder = await read(lock);
    looks = holder === seen ? looks + 1 : 0;
    seen = holder;
    const stale = looks >= looksAtAnyone || (looks >= looksAtDead && isDead(pidOf(holder)));
    if (holder !== undefined && stale && (await takeOver(lock, own, holder))) return;
    await setTimeout(retryMs);
  }
  throw new FailureError({
    code: "busy",
    message: `another process is changing the same file. If none is running, delete ${lock}`,
    retryable: true,
  });
}

/** Of those who found the same dead holder one may replace its lock; who comes later sees that it has changed. */
async function takeOver(lock: string, own: string, holder: string): Promise<boolean> {
  const claim = `${lock}.after.${holder.replaceAll(/[^\w-]/g, "")}`;
  const copy = `${own}.copy`;
  if (!(await linked(own, claim))) return false;
  try {
    if ((await read(lock)) !== holder) return false;
    await link(own, copy);
    await rename(copy, lock);
    return true;
  } finally {
    await Promise.all([claim, copy].map((path) => rm(path, { force: true })));
  }
}

function pidOf(holder: string | undefined): number {
  return Number(holder?.split(" ")[0]);
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function read(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}
