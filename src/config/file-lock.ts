import { randomUUID } from "node:crypto";
import { link, rename, rm } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isProcessDead } from "../base/process/is-dead.js";
import { NotRegularError, openRegular, readAt } from "../base/fs/open-regular.js";
import { sweepStrays } from "../base/fs/sweep-strays.js";
import { writeNew } from "../base/fs/write-atomic.js";
import { FailureError } from "../messages/failure-error.js";

const retryMs = 25;
/**
 * Most processes hold the lock for milliseconds. After this many polls of the same dead holder, its lock is replaced.
 */
const looksAtDead = 40;
/** Several times the length of a holder token. */
const maxHolderBytes = 200;

export interface LockOptions {
  /** After this long with the same holder, its lock is replaced even if that process is alive. */
  readonly holdMs?: number;
}

/**
 * Runs `work` while no other process runs work under the same lock file. Waits for the lock at most three times
 * `holdMs`, then fails with `busy`.
 */
export async function withFileLock<T>(
  lock: string,
  work: () => Promise<T>,
  { holdMs = 10_000 }: LockOptions = {},
): Promise<T> {
  // The token is written to a separate file and linked into place, so that no process ever reads a half-written lock.
  const token = `${process.pid} ${randomUUID()}`;
  const own = `${lock}.${token.replace(" ", ".")}`;
  await writeNew(own, token);
  try {
    await acquire(lock, own, Math.ceil(holdMs / retryMs));
    try {
      await sweepStrays(lock);
      return await work();
    } finally {
      // If another process has replaced the lock meanwhile, leave its lock alone.
      const holder = await read(lock).catch(() => undefined);
      if (holder === token) await rm(lock, { force: true });
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
    const stale = looks >= looksAtAnyone || (looks >= looksAtDead && isProcessDead(pidOf(holder)));
    if (holder !== undefined && stale && (await takeOver(lock, own, holder))) return;
    await setTimeout(retryMs);
  }
  throw new FailureError({
    code: "busy",
    message: `another process is changing the same file. If none is running, delete ${lock}`,
    retryable: true,
  });
}

/**
 * Of several processes that found the same stale holder, only the one that makes the claim file replaces the lock. A
 * later one sees that the holder has changed.
 */
async function takeOver(lock: string, own: string, holder: string): Promise<boolean> {
  const claim = `${lock}.after.${holder.replaceAll(/[^\w-]/g, "")}`;
  const copy = `${own}.copy`;
  if (!(await claimed(claim, own))) return false;
  try {
    if ((await read(lock)) !== holder) return false;
    await link(own, copy);
    await rename(copy, lock);
    return true;
  } finally {
    await Promise.all([claim, copy].map((path) => rm(path, { force: true })));
  }
}

/** A claim names its owner, as a lock does. The claim of a dead process is taken over in the same way. */
async function claimed(claim: string, own: string): Promise<boolean> {
  if (await linked(own, claim)) return true;
  const taker = await read(claim);
  return taker !== undefined && isProcessDead(pidOf(taker)) && (await takeOver(claim, own, taker));
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

/**
 * A lock may be in a folder that anyone can write to, so this never follows a link, blocks on a pipe or reads without a
 * bound.
 */
async function read(path: string): Promise<string | undefined> {
  try {
    await using regular = await openRegular(path, { links: "refuse" });
    return (await readAt(regular.file, 0, maxHolderBytes)).toString();
  } catch (error) {
    if (error instanceof NotRegularError) throw notALock(path);
    return undefined;
  }
}

function notALock(path: string): FailureError {
  const message = `${basename(path)} is not a regular file and cannot be a lock: delete it`;
  return new FailureError({ code: "invalid_request", message, retryable: false });
}
