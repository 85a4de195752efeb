import { randomBytes } from "node:crypto";
import { closeSync, fchmodSync, openSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { rm, readdir, stat } from "node:fs/promises";
import { dirname, basename, join } from "node:path";
import { connect } from "node:net";
import { linked, takeOverLock, type LockFile } from "../../base/fs/lock-takeover.js";
import { NotRegularError, openRegular, readAt, readRegularSync, TooLargeError } from "../../base/fs/open-regular.js";
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

interface LockOptions {
  readonly force: boolean;
  /** For a caller that takes many locks. */
  readonly templates?: LockTemplates;
}

/**
 * Ensures one writer per rollout across processes. The lock file is linked into place atomically, names its owner,
 * and is stale once the owner's process ends. The calls that take and release a free lock are synchronous: in Node's
 * thread pool they cost ten times as much, because its threads compete for the directory.
 */
export async function acquireLock(
  rolloutPath: string,
  owner: LockOwner,
  { force, templates }: LockOptions,
): Promise<LockOutcome> {
  const lock = lockPath(rolloutPath);
  if (templates?.link(lock, owner) === true) return { status: "taken" };
  const temporary = temporaryPath(lock);
  try {
    writeOwner(temporary, owner);
    for (let round = 0; round < maxRounds; round += 1) {
      const outcome = await tryOnce(lock, temporary, owner, force);
      if (outcome !== "again") return outcome;
    }
    return { status: "in_use", owner: unknownOwner };
  } finally {
    removeFile(temporary);
  }
}

/**
 * Complete lock files, one in each directory, of which locks that are taken together are further names. A lock of its
 * own would be a new inode, and ext4 searches longer for one the more files were deleted in the last half minute. The
 * files are removed before the event loop turns.
 */
export class LockTemplates {
  readonly #paths = new Map<string, string>();

  /** Takes a lock that is free; returns false in every other case. */
  link(lock: string, owner: LockOwner): boolean {
    const key = `${dirname(lock)}\0${owner.token}`;
    try {
      const known = this.#paths.get(key);
      if (known !== undefined) return linked(known, lock);
      const path = temporaryPath(lock);
      if (this.#paths.size === 0) setImmediate(() => this.#remove());
      this.#paths.set(key, path);
      writeOwner(path, owner);
      return linked(path, lock);
    } catch {
      // Another program removed the file, or it has as many names as the file system allows.
      this.#forget(key);
      return false;
    }
  }

  #forget(key: string): void {
    const path = this.#paths.get(key);
    this.#paths.delete(key);
    try {
      if (path !== undefined) removeFile(path);
    } catch {
      // The file is ignored by everything that reads the directory.
    }
  }

  #remove(): void {
    for (const key of this.#paths.keys()) this.#forget(key);
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
  const found = lockFileOf(readSmallFileSync(lock));
  // If another process took the lock by force, it is no longer ours to remove.
  if (found.status === "held" && found.owner.token === owner.token) removeFile(lock);
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

function temporaryPath(lock: string): string {
  return `${lock}.${randomBytes(8).toString("hex")}.tmp`;
}

async function tryOnce(
  lock: string,
  temporary: string,
  self: LockOwner,
  force: boolean,
): Promise<LockOutcome | "again"> {
  if (linked(temporary, lock)) return { status: "taken" };
  const found = await readLock(lock);
  if (found.status === "none") return "again";
  if (found.status === "held" && found.owner.token === self.token) return { status: "taken" };
  if (force) {
    renameSync(temporary, lock);
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

function writeOwner(path: string, owner: LockOwner): void {
  const fd = openSync(path, "w", 0o600);
  try {
    fchmodSync(fd, 0o600);
    writeFileSync(fd, `${JSON.stringify(owner)}\n`);
  } finally {
    closeSync(fd);
  }
}

/** Removes a file that may be gone already. */
function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
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
  return lockFileOf(await readSmallFile(path));
}

/** Interprets the text of a lock file; undefined if there is none. */
function lockFileOf(text: string | undefined): LockFile<LockOwner> {
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
    return textWithout(error);
  }
}

/** Synchronous variant, for releasing a lock. */
function readSmallFileSync(path: string): string | undefined {
  try {
    return readRegularSync(path, { links: "refuse", maxBytes: maxLockBytes }).toString();
  } catch (error) {
    return error instanceof TooLargeError ? "" : textWithout(error);
  }
}

/** The text that counts as read where there is no regular file; undefined where there is nothing. */
function textWithout(error: unknown): string | undefined {
  if (error instanceof NotRegularError) return "";
  if (systemCode(error) === "ENOENT") return undefined;
  throw error;
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
