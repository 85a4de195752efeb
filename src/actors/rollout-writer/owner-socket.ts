import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { lstat, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { dirname } from "node:path";
import type { LockOwner } from "../../messages/rollout-command.js";
import { ownDirectory, socketPath } from "../../rollouts/file/runtime-directory.js";
import { sweepSockets } from "../../rollouts/file/sweep-sockets.js";
import { processIdentity } from "./process-identity.js";

/** Interval at which an owner checks that its socket file still exists. */
const defaultCheckMs = 30_000;

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

/** The sockets of this process, removed at exit if the program did not close them. */
const socketsToRemove = new Set<string>();

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
