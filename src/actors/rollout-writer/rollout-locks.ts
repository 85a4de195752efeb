import { randomBytes } from "node:crypto";
import { rmSync, constants } from "node:fs";
import { lstat, rm, readFile, readlink, realpath } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { dirname, basename, join, sep } from "node:path";
import { hostname } from "node:os";
import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { errorMessage } from "../../base/error-message.js";
import { commandOutput, processStartTime } from "../../base/process/process-state.js";
import { bareId } from "../../base/text/conversation-id.js";
import { ConcurrencyLimit } from "../../base/time/shared-work.js";
import type { LockOwner } from "../../messages/actors/rollout-writer.js";
import { nodeFileSystem } from "../../rollouts/file/file-system.js";
import { sweepSockets } from "../../rollouts/file/lock.js";
import { ownDirectory, socketPath } from "../../rollouts/file/runtime-directory.js";
import { makeDurableDirectory } from "./durable-directory.js";

const defaultSearchPath = "/usr/local/bin:/usr/bin:/bin";

/** Codex holds the coordination lock only while it opens or removes a writer lock. */
const pollMs = 50;

const maxPolls = 60;

/** Interval at which an owner checks that its socket file still exists. */
const defaultCheckMs = 30_000;

/** The sockets of this process, removed at exit if the program did not close them. */
const socketsToRemove = new Set<string>();

export interface OwnerSocket {
  readonly owner: LockOwner;
  close(): Promise<void>;
}

/** Tokens of the owners that have closed in this process. */
export const closedOwners: Set<string> = new Set();

/**
 * Listens for as long as this process lives: a process that finds one of our locks connects to learn whether we are
 * alive. The main thread owns the socket, so that a new writer thread keeps the locks of the old one.
 */
export async function openOwnerSocket(directory: string, checkMs = defaultCheckMs): Promise<OwnerSocket> {
  const token = randomBytes(16).toString("hex");
  const path = socketPath(directory, token);
  const listener = await SocketListener.open(path, checkMs);
  removeAtExit(path);
  // Not awaited, because nothing depends on it.
  void sweepSockets(directory, Date.now()).catch(() => undefined);
  const owner: LockOwner = { token, ...(await processIdentity()), socket: path };
  return {
    owner,
    close: async () => {
      keepAtExit(path);
      await listener.close();
      closedOwners.add(token);
      await rm(path, { force: true });
    },
  };
}

/** Listens on a socket and recreates its file when something deleted it, such as a logout or a cleaner of /tmp. */
class SocketListener {
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  #server: Server | undefined;
  #checking: Promise<void> | undefined;

  private constructor(path: string, server: Server, checkMs: number) {
    this.#path = path;
    this.#server = server;
    this.#timer = setInterval(() => {
      // If the directory cannot be created now, it is tried again; until then the pid in the lock shows that we are
      // alive.
      this.#checking ??= this.#check()
        .catch(() => undefined)
        .finally(() => (this.#checking = undefined));
    }, checkMs);
    this.#timer.unref();
  }

  static async open(path: string, checkMs: number): Promise<SocketListener> {
    return new SocketListener(path, await listen(path), checkMs);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#checking;
    await this.#closeServer();
  }

  async #check(): Promise<void> {
    if (this.#server !== undefined && (await exists(this.#path))) return;
    // Closing the server removes the file of that name, so it must come first.
    await this.#closeServer();
    await ownDirectory(dirname(this.#path));
    this.#server = await listen(this.#path);
  }

  async #closeServer(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await new Promise<void>((resolve) => {
      if (server === undefined) resolve();
      else server.close(() => resolve());
    });
  }
}

function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      // A failed connection has no effect on the locks.
      server.on("error", () => {});
      // The socket must never keep the process alive.
      server.unref();
      resolve(server);
    });
  });
}

/** Only a missing file counts; other errors do not show that the socket is gone. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
}

function removeAtExit(path: string): void {
  if (socketsToRemove.size === 0) process.once("exit", removeAll);
  socketsToRemove.add(path);
}

function keepAtExit(path: string): void {
  socketsToRemove.delete(path);
  if (socketsToRemove.size === 0) process.off("exit", removeAll);
}

function removeAll(): void {
  for (const path of socketsToRemove) rmSync(path, { force: true });
}

/** Identifies this process and its machine, so that others can find out whether it is still running. */
async function processIdentity(): Promise<Omit<LockOwner, "token" | "socket">> {
  const [startTime, machine, namespace] = await Promise.all([
    processStartTime(process.pid),
    process.platform === "darwin" ? macIdentity() : linuxIdentity(),
    pidNamespace(),
  ]);
  return { pid: process.pid, startTime, ...machine, pidNamespace: namespace };
}

/** Only Linux has pid namespaces; empty if ours cannot be determined. */
async function pidNamespace(): Promise<string> {
  if (process.platform !== "linux") return process.platform;
  return await readlink("/proc/self/ns/pid").catch(() => "");
}

/** An owner for a process that only inspects locks and has none, so it needs no socket. */
export async function ownerWithoutLocks(): Promise<LockOwner> {
  return { token: "", socket: "", ...(await processIdentity()) };
}

type MachineIdentity = Pick<LockOwner, "host" | "bootId">;

/** Combined with the host name, because machines made from one image share a machine id. */
async function linuxIdentity(): Promise<MachineIdentity> {
  const [id, bootId] = await Promise.all([
    readFile("/etc/machine-id", "utf8").catch(() => ""),
    readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => ""),
  ]);
  if (id.trim() !== "") return { host: `${id.trim()} ${hostname()}`, bootId: bootId.trim() };
  // Without a boot id, on systems other than Linux, only the host name distinguishes machines.
  return { host: bootId === "" ? hostname() : "", bootId: bootId.trim() };
}

async function macIdentity(): Promise<MachineIdentity> {
  const [device, bootId] = await Promise.all([
    commandOutput("ioreg", ["-rd1", "-c", "IOPlatformExpertDevice"]),
    commandOutput("sysctl", ["-n", "kern.bootsessionuuid"]),
  ]);
  return { host: /"IOPlatformUUID" = "([^"]+)"/.exec(device)?.[1] ?? hostname(), bootId: bootId.trim() };
}

export type CodexLock =
  | { readonly status: "taken"; release(): Promise<void> }
  | { readonly status: "held" }
  /** It is unknown whether Codex is writing. */
  | { readonly status: "unavailable"; readonly reason: string };

interface CodexLocksOptions {
  readonly codexHome: string;
  /** The `PATH` used to find `flock`. */
  readonly searchPath: string | undefined;
}

/**
 * Codex's own locks: the writer of a rollout holds `thread-writer-locks/<id>.lock` with flock(2), and
 * `.coordination.lock` while that file is created or removed. Node cannot call flock, so flock(1) does it on a
 * descriptor of ours: the lock belongs to the open file and ends with this process.
 */
export class CodexLocks {
  readonly #directory: string;
  readonly #sessions: string;
  readonly #searchPath: string;
  /** One at a time: all of them would wait for the same lock. */
  readonly #queue = new ConcurrencyLimit(1);

  constructor({ codexHome, searchPath }: CodexLocksOptions) {
    this.#directory = join(codexHome, "thread-writer-locks");
    this.#sessions = join(codexHome, "sessions");
    this.#searchPath = searchPath ?? defaultSearchPath;
  }

  /** Whether Codex could be writing this file, also under another name. */
  async covers(path: string): Promise<boolean> {
    if (path.startsWith(this.#sessions + sep)) return true;
    if (!basename(path).startsWith("rollout-")) return false;
    const [file, sessions] = await Promise.all([path, this.#sessions].map((name) => realpath(name).catch(() => "")));
    return file !== undefined && sessions !== "" && file.startsWith(`${sessions}${sep}`);
  }

  /** Never rejects. */
  take(conversationId: string): Promise<CodexLock> {
    return this.#queue.run(() =>
      this.#acquire(bareId(conversationId)).catch((error: unknown) => ({
        status: "unavailable",
        reason: errorMessage(error),
      })),
    );
  }

  async #acquire(id: string): Promise<CodexLock> {
    await makeDurableDirectory(nodeFileSystem, this.#directory);
    const coordination = await this.#coordination();
    if (typeof coordination !== "number") return coordination;
    try {
      const path = join(this.#directory, `${id}.lock`);
      const fd = await openLock(path);
      const outcome = await this.#flock(fd);
      if (outcome === "locked") return { status: "taken", release: () => this.#release(fd, path) };
      await nodeFileSystem.close(fd);
      return outcome === "held" ? { status: "held" } : { status: "unavailable", reason: outcome.reason };
    } finally {
      await nodeFileSystem.close(coordination);
    }
  }

  /** The file is removed only under the coordination lock, so that no process locks a file that was just removed. */
  #release(fd: number, path: string): Promise<void> {
    return this.#queue.run(async () => {
      const coordination = await this.#coordination().catch(() => undefined);
      await nodeFileSystem.close(fd).catch(() => undefined);
      if (typeof coordination !== "number") return;
      await rm(path, { force: true }).catch(() => undefined);
      await nodeFileSystem.close(coordination);
    });
  }

  /** Returns a descriptor that holds the coordination lock. */
  async #coordination(): Promise<number | Exclude<CodexLock, { status: "taken" }>> {
    const fd = await openLock(join(this.#directory, ".coordination.lock"));
    let outcome: FlockOutcome = "held";
    for (let polls = 0; outcome === "held" && polls < maxPolls; polls += 1) {
      if (polls > 0) await setTimeout(pollMs);
      outcome = await this.#flock(fd);
    }
    if (outcome === "locked") return fd;
    await nodeFileSystem.close(fd);
    return outcome === "held" ? { status: "held" } : { status: "unavailable", reason: outcome.reason };
  }

  #flock(fd: number): Promise<FlockOutcome> {
    return new Promise((resolve) => {
      const child = spawn("flock", ["-n", "-x", "3"], {
        env: { PATH: this.#searchPath },
        stdio: ["ignore", "ignore", "ignore", fd],
      });
      child.once("error", ({ code, message }: NodeJS.ErrnoException) =>
        resolve({ reason: code === "ENOENT" ? "flock(1) is not installed" : message }),
      );
      child.once("exit", (code) => {
        if (code === 0) resolve("locked");
        else resolve(code === 1 ? "held" : { reason: `flock(1) ended with ${code ?? "a signal"}` });
      });
    });
  }
}

type FlockOutcome = "locked" | "held" | { readonly reason: string };

function openLock(path: string): Promise<number> {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  return nodeFileSystem.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
}
