import { connect } from "node:net";
import type { LockFile } from "../../base/fs/lock-takeover.js";
import { NotRegularError, openRegular, readAt } from "../../base/fs/open-regular.js";
import { isRecord } from "../../base/is-record.js";
import { systemCode } from "../../base/system-error.js";
import type { LockOwner } from "../../messages/rollout-command.js";
import { processState } from "../../base/process/process-state.js";
import { isSocketPath } from "./runtime-directory.js";

const maxLockBytes = 16 * 1024;
const connectTimeoutMs = 1000;
const maxPid = 2 ** 31 - 1;

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
export async function isOwnerDead(owner: LockOwner, us: LockOwner): Promise<boolean> {
  if (hasRestartedSince(owner, us)) return true;
  if (!isSameMachine(owner, us) || owner.pidNamespace !== us.pidNamespace) return false;
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
export function describeOwner(owner: LockOwner, us: LockOwner): string {
  if (!isSameMachine(owner, us)) return `pid ${owner.pid} on another machine`;
  if (owner.pidNamespace !== us.pidNamespace) return `pid ${owner.pid} in another container`;
  if (owner.pidNamespace === "") return `pid ${owner.pid}, perhaps in another container`;
  return owner.pid === us.pid ? `this process (pid ${owner.pid})` : `pid ${owner.pid}`;
}

function hasRestartedSince(owner: LockOwner, us: LockOwner): boolean {
  if (owner.host === "" || owner.bootId === "" || us.bootId === "") return false;
  return owner.host === us.host && owner.bootId !== us.bootId;
}

/** Whether the owner's pids refer to the same processes for us; systems without a boot id are compared by host. */
function isSameMachine(owner: LockOwner, us: LockOwner): boolean {
  if (owner.bootId !== us.bootId) return false;
  return owner.bootId !== "" || (owner.host !== "" && owner.host === us.host);
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
