import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isProcessDead } from "../base/process/process-state.js";
import { linked, type LockKind, takeOverLock } from "../base/fs/lock-takeover.js";
import { NotRegularError, openRegular, readAt } from "../base/fs/open-regular.js";
import { sweepStrays } from "../base/fs/sweep-strays.js";
import { writeNew } from "../base/fs/write-atomic.js";
import { FailureError } from "../messages/failure-error.js";

const retryMs = 25;
/**
 * Most processes hold the lock for milliseconds. After this many polls of the same dead holder, its lock is replaced.
 */
const pollsBeforeTakeover = 40;
/** Several times the length of a holder token. */
const maxHolderBytes = 200;

interface LockOptions {
  /** After this long with the same holder, its lock is replaced even if that process is alive. */
  readonly holdMs?: number;
  /** How long to wait for the lock; three times `holdMs` by default. */
  readonly waitMs?: number;
}

/**
 * Runs `work` while no other process runs work under the same lock file. Waits for the lock at most `waitMs`, then
 * fails with `busy`.
 */
export async function withFileLock<T>(
  lock: string,
  work: () => Promise<T>,
  { holdMs = 10_000, waitMs = 3 * holdMs }: LockOptions = {},
): Promise<T> {
  // The token is written to a separate file and linked into place, so that no process ever reads a half-written lock.
  const token = `${process.pid} ${randomUUID()}`;
  const own = `${lock}.${token.replace(" ", ".")}`;
  try {
    await writeNew(own, token);
    await acquire(lock, own, token, {
      pollsBeforeAnyTakeover: Math.ceil(holdMs / retryMs),
      maxPolls: waitMs / retryMs,
    });
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

interface AcquireBounds {
  readonly pollsBeforeAnyTakeover: number;
  readonly maxPolls: number;
}

async function acquire(
  lock: string,
  own: string,
  token: string,
  { pollsBeforeAnyTakeover, maxPolls }: AcquireBounds,
): Promise<void> {
  let seen: string | undefined;
  let polls = 0;
  for (let total = 0; total < maxPolls; total += 1) {
    if (linked(own, lock)) return;
    const holder = await read(lock);
    polls = holder === seen ? polls + 1 : 0;
    seen = holder;
    const stale = polls >= pollsBeforeAnyTakeover || (polls >= pollsBeforeTakeover && isProcessDead(pidOf(holder)));
    if (holder !== undefined && stale) {
      const { status } = await takeOverLock(fileLock, lock, own, { gone: holder, us: fileLock.tokenOf(token) });
      if (status === "taken") return;
    }
    await setTimeout(retryMs);
  }
  throw new FailureError({
    code: "busy",
    message: `another process is changing the same file. If none is running, delete ${lock}`,
    retryable: true,
  });
}

/** A short lock contains the pid and a random id of its holder. */
const fileLock: LockKind<string> = {
  read: async (path) => {
    const owner = await read(path);
    return owner === undefined ? { status: "none" } : { status: "held", owner };
  },
  tokenOf: (holder) => holder.replaceAll(/[^\w-]/g, ""),
  isDead: async (holder) => isProcessDead(pidOf(holder)),
};

function pidOf(holder: string | undefined): number {
  return Number(holder?.split(" ")[0]);
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
    if (error instanceof NotRegularError) throw notALockError(path);
    return undefined;
  }
}

function notALockError(path: string): FailureError {
  const message = `${basename(path)} is not a regular file and cannot be a lock: delete it`;
  return new FailureError({ code: "invalid_request", message, retryable: false });
}
