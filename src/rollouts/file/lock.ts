import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { linked, takeOverLock } from "../../base/fs/lock-takeover.js";
import type { LockOwner } from "../../messages/rollout-command.js";
import { companionPath } from "../layout.js";
import { probeSocket, isOwnerDead, readLock, describeOwner } from "./lock-owner.js";

export type LockOutcome = { readonly status: "taken" } | { readonly status: "in_use"; readonly owner: string };

/** Every lost round means that another process made progress, so a few rounds are enough. */
const maxRounds = 32;
const unreadableOwner = "an owner whose lock cannot be read";
const unknownTaker = "a process that is just locking it";

/**
 * Ensures one writer per rollout across processes. The lock file is linked into place atomically, names its owner,
 * and is stale once the owner's process ends.
 */
export async function acquireLock(
  rolloutPath: string,
  owner: LockOwner,
  options: { readonly force: boolean },
): Promise<LockOutcome> {
  const lock = lockPath(rolloutPath);
  const temporary = `${lock}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    await writeOwner(temporary, owner);
    for (let round = 0; round < maxRounds; round += 1) {
      const outcome = await tryOnce(lock, temporary, owner, options.force);
      if (outcome !== "again") return outcome;
    }
    return { status: "in_use", owner: unknownTaker };
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns the owner of a rollout's lock unless it is us or certainly dead; lets callers check before a long read. */
export async function lockHolder(rolloutPath: string, us: LockOwner): Promise<string | undefined> {
  const found = await readLock(lockPath(rolloutPath));
  if (found.status !== "held" || found.owner.token === us.token) return undefined;
  return (await isOwnerDead(found.owner, us)) ? undefined : describeOwner(found.owner, us);
}

export async function releaseLock(rolloutPath: string, owner: LockOwner): Promise<void> {
  const lock = lockPath(rolloutPath);
  const found = await readLock(lock);
  // If another process took the lock by force, it is no longer ours to remove.
  if (found.status === "held" && found.owner.token === owner.token) await rm(lock, { force: true });
}

let removal: Promise<unknown> = Promise.resolve();

/**
 * Removes the lock of an owner that has closed in this process but could not remove it, for example because the disk
 * was failing; returns whether there was one. Other processes never do, because they see that this process is alive. One removal runs at a time: a
 * second one must not delete the lock that was taken after the first.
 */
export async function removeLeftLock(rolloutPath: string, closedTokens: ReadonlySet<string>): Promise<boolean> {
  const lock = lockPath(rolloutPath);
  const remove = async (): Promise<boolean> => {
    const found = await readLock(lock);
    const isLeft = found.status === "held" && closedTokens.has(found.owner.token);
    if (isLeft) await rm(lock, { force: true });
    return isLeft;
  };
  const result = removal.then(remove);
  removal = result.catch(() => undefined);
  return await result;
}

function lockPath(rolloutPath: string): string {
  return companionPath(rolloutPath, "lock");
}

async function tryOnce(lock: string, temporary: string, us: LockOwner, force: boolean): Promise<LockOutcome | "again"> {
  if (await linked(temporary, lock)) return { status: "taken" };
  const found = await readLock(lock);
  if (found.status === "none") return "again";
  if (found.status === "held" && found.owner.token === us.token) return { status: "taken" };
  if (force) {
    await rename(temporary, lock);
    return { status: "taken" };
  }
  if (found.status === "garbled") return { status: "in_use", owner: unreadableOwner };
  if (!(await isOwnerDead(found.owner, us))) return { status: "in_use", owner: describeOwner(found.owner, us) };
  return takeOver(lock, temporary, found.owner, us);
}

async function takeOver(
  lock: string,
  temporary: string,
  dead: LockOwner,
  us: LockOwner,
): Promise<LockOutcome | "again"> {
  const kind = { read: readLock, tokenOf, isDead: (owner: LockOwner) => isOwnerDead(owner, us) };
  const outcome = await takeOverLock(kind, lock, temporary, { gone: dead, us: us.token });
  if (outcome.status === "again") return "again";
  if (outcome.status === "in_use") return { status: "in_use", owner: shownTaker(outcome.by, us) };
  const sockets = outcome.gone.map((owner) => owner.socket).filter((socket) => dirname(socket) === dirname(us.socket));
  await Promise.all(sockets.map(removeDeadSocket));
  return { status: "taken" };
}

function tokenOf({ token }: LockOwner): string {
  return token;
}

function shownTaker(taker: LockOwner | "unreadable" | undefined, us: LockOwner): string {
  if (taker === "unreadable") return unreadableOwner;
  return taker === undefined ? unknownTaker : describeOwner(taker, us);
}

/** Removes a socket only if nobody answers, because a lock file may name any socket, even one in use by now. */
async function removeDeadSocket(socket: string): Promise<void> {
  if ((await probeSocket(socket)) === "refused") await rm(socket, { force: true });
}

async function writeOwner(path: string, owner: LockOwner): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(`${JSON.stringify(owner)}\n`);
  } finally {
    await file.close();
  }
}
