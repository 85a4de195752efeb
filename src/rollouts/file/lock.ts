import { randomBytes } from "node:crypto";
import { open, rename, rm, readdir, stat } from "node:fs/promises";
import { dirname, basename, join } from "node:path";
import { connect } from "node:net";
import { linked, takeOverLock, type LockFile } from "../../base/fs/lock-takeover.js";
import { NotRegularError, openRegular, readAt } from "../../base/fs/open-regular.js";
import { isRecord } from "../../base/is-record.js";
import { isProcessDead, processState } from "../../base/process/process-state.js";
import { systemCode } from "../../base/system-error.js";
import type { LockOwner } from "../../messages/actors/rollout-writer.js";
import { companionPath } from "../layout.js";
import { otherRuntimeDirectory, socketPid, isSocketPath } from "./runtime-directory.js";

const maxLockBytes = 16 * 1024;

const connectTimeoutMs = 1000;

const maxPid = 2 ** 31 - 1;

/** Minimum age of a socket to remove when its name contains no pid. */
const settledMs = 60 * 60 * 1000;

/** Limits the work of one start; the next one removes more. */
const maxSwept = 256;

type LockOutcome = { readonly status: "taken" } | { readonly status: "in_use"; readonly owner: string };

/** Every lost round means that another process made progress, so a few rounds are enough. */
const maxRounds = 32;
const unreadableOwner = "an owner whose lock cannot be read";
const unknownOwner = "a process that is just locking it";

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
    return { status: "in_use", owner: unknownOwner };
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns the owner of a rollout's lock unless it is us or certainly dead; lets callers check before a long read. */
export async function lockHolder(rolloutPath: string, self: LockOwner): Promise<string | undefined> {
  const found = await readLock(lockPath(rolloutPath));
  if (found.status !== "held" || found.owner.token === self.token) return undefined;
  return (await isOwnerDead(found.owner, self)) ? undefined : describeOwner(found.owner, self);
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

async function tryOnce(
  lock: string,
  temporary: string,
  self: LockOwner,
  force: boolean,
): Promise<LockOutcome | "again"> {
  if (await linked(temporary, lock)) return { status: "taken" };
  const found = await readLock(lock);
  if (found.status === "none") return "again";
  if (found.status === "held" && found.owner.token === self.token) return { status: "taken" };
  if (force) {
    await rename(temporary, lock);
    return { status: "taken" };
  }
  if (found.status === "garbled") return { status: "in_use", owner: unreadableOwner };
  if (!(await isOwnerDead(found.owner, self))) return { status: "in_use", owner: describeOwner(found.owner, self) };
  return takeOver(lock, temporary, found.owner, self);
}

async function takeOver(
  lock: string,
  temporary: string,
  dead: LockOwner,
  self: LockOwner,
): Promise<LockOutcome | "again"> {
  const kind = { read: readLock, tokenOf, isDead: (owner: LockOwner) => isOwnerDead(owner, self) };
  const outcome = await takeOverLock(kind, lock, temporary, { gone: dead, us: self.token });
  if (outcome.status === "again") return "again";
  if (outcome.status === "in_use") return { status: "in_use", owner: ownerText(outcome.by, self) };
  const sockets = outcome.gone
    .map((owner) => owner.socket)
    .filter((socket) => dirname(socket) === dirname(self.socket));
  await Promise.all(sockets.map(removeDeadSocket));
  return { status: "taken" };
}

function tokenOf({ token }: LockOwner): string {
  return token;
}

function ownerText(owner: LockOwner | "unreadable" | undefined, self: LockOwner): string {
  if (owner === "unreadable") return unreadableOwner;
  return owner === undefined ? unknownOwner : describeOwner(owner, self);
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

/** Reads the owner from a lock file. */
export async function readLock(path: string): Promise<LockFile<LockOwner>> {
  const text = await readSmallFile(path);
  if (text === undefined) return { status: "none" };
  const owner = ownerOf(text);
  return owner === undefined ? { status: "garbled" } : { status: "held", owner };
}

/**
 * Whether an owner is certainly gone: this machine was restarted since, or its socket does not answer and its process
 * has ended. A missing socket alone proves nothing: a cleaner of /tmp or a logout may have deleted it. Nothing can be
 * known about a process on another machine or in another container.
 */
export async function isOwnerDead(owner: LockOwner, self: LockOwner): Promise<boolean> {
  if (hasRestartedSince(owner, self)) return true;
  if (!isSameMachine(owner, self) || owner.pidNamespace !== self.pidNamespace) return false;
  if (!isSocketPath(owner.socket)) return false;
  const answer = await probeSocket(owner.socket);
  if (answer === "alive") return false;
  // A pid means nothing when its namespace is unknown; a socket that refuses was listened on by a process that ended.
  if (owner.pidNamespace === "") return answer === "refused";
  const state = await processState(owner.pid, owner.startTime);
  // Locks of older versions name no start time. Their owner has ended if its socket is there and refuses; if the socket
  // is missing, the pid may still be the owner's.
  return state === "gone" || (state === "unknown_start" && answer === "refused");
}

/** Describes an owner so that a person can find it. */
export function describeOwner(owner: LockOwner, self: LockOwner): string {
  if (!isSameMachine(owner, self)) return `pid ${owner.pid} on another machine`;
  if (owner.pidNamespace !== self.pidNamespace) return `pid ${owner.pid} in another container`;
  if (owner.pidNamespace === "") return `pid ${owner.pid}, perhaps in another container`;
  return owner.pid === self.pid ? `this process (pid ${owner.pid})` : `pid ${owner.pid}`;
}

function hasRestartedSince(owner: LockOwner, self: LockOwner): boolean {
  if (owner.host === "" || owner.bootId === "" || self.bootId === "") return false;
  return owner.host === self.host && owner.bootId !== self.bootId;
}

/** Whether the owner's pids refer to the same processes for us; systems without a boot id are compared by host. */
function isSameMachine(owner: LockOwner, self: LockOwner): boolean {
  if (owner.bootId !== self.bootId) return false;
  return owner.bootId !== "" || (owner.host !== "" && owner.host === self.host);
}

/** Probes whether a process listens on a socket; every error other than refused or missing counts as alive. */
export async function probeSocket(path: string): Promise<"alive" | "refused" | "missing"> {
  const code = await connectCode(path);
  if (code === "ECONNREFUSED") return "refused";
  return code === "ENOENT" ? "missing" : "alive";
}

function connectCode(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const done = (code: string | undefined): void => {
      socket.destroy();
      resolve(code);
    };
    socket.setTimeout(connectTimeoutMs, () => done(undefined));
    socket.once("connect", () => done(undefined));
    socket.once("error", (error: NodeJS.ErrnoException) => done(error.code));
  });
}

async function readSmallFile(path: string): Promise<string | undefined> {
  try {
    await using regular = await openRegular(path, { links: "refuse" });
    return (await readAt(regular.file, 0, maxLockBytes)).toString();
  } catch (error) {
    if (error instanceof NotRegularError) return "";
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function ownerOf(text: string): LockOwner | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { token, pid, startTime = "", host = "", bootId, pidNamespace, socket } = value;
  // The token becomes part of a file name.
  if (typeof token !== "string" || !/^[0-9a-f]{32}$/.test(token)) return undefined;
  // Zero and negative numbers mean process groups to kill(2).
  if (typeof pid !== "number" || !Number.isInteger(pid) || pid < 1 || pid > maxPid) return undefined;
  if (typeof startTime !== "string" || typeof host !== "string" || typeof bootId !== "string") return undefined;
  if (typeof pidNamespace !== "string" || typeof socket !== "string") return undefined;
  return { token, pid, startTime, host, bootId, pidNamespace, socket };
}
