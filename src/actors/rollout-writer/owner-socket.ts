import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { lstat, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { dirname } from "node:path";
import type { LockOwner } from "../../messages/rollout-command.js";
import { ownDirectory, socketPath } from "../../rollouts/file/runtime-directory.js";
import { sweepSockets } from "../../rollouts/file/sweep-sockets.js";
import { processIdentity } from "./process-identity.js";

/** How often an owner looks whether its socket file is still there. */
const defaultCheckMs = 30_000;

export interface OwnerSocket {
  readonly owner: LockOwner;
  close(): Promise<void>;
}

/**
 * Listens for as long as this process lives: whoever finds one of our locks connects to learn whether we do. Held by
 * the main thread, so that a new writer thread keeps the locks of the old one.
 */
export async function openOwnerSocket(directory: string, checkMs = defaultCheckMs): Promise<OwnerSocket> {
  const token = randomBytes(16).toString("hex");
  const path = socketPath(directory, token);
  const listener = await SocketListener.open(path, checkMs);
  removeAtExit(path);
  // Not awaited: nothing depends on it.
  void sweepSockets(directory, Date.now()).catch(() => undefined);
  const owner: LockOwner = { token, ...(await processIdentity()), socket: path };
  return {
    owner,
    close: async () => {
      keepAtExit(path);
      await listener.close();
      await rm(path, { force: true });
    },
  };
}

/** Listens on a socket and makes its file again when something deleted it, such as a logout or a cleaner of /tmp. */
class SocketListener {
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  #server: Server | undefined;
  #checking: Promise<void> | undefined;

  private constructor(path: string, server: Server, checkMs: number) {
    this.#path = path;
    this.#server = server;
    this.#timer = setInterval(() => {
      // A directory that cannot be made now is tried again; until then the pid in the lock tells that we live.
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
    // Closing removes the file of that name, so it comes first.
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
      // A connection that could not be taken says nothing about the locks.
      server.on("error", () => {});
      // It must never be the reason why a process does not end.
      server.unref();
      resolve(server);
    });
  });
}

/** Errors other than a missing file say nothing about the socket. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
}

/** The sockets of this process, for a program that ends without closing them. */
const open = new Set<string>();

function removeAtExit(path: string): void {
  if (open.size === 0) process.once("exit", removeAll);
  open.add(path);
}

function keepAtExit(path: string): void {
  open.delete(path);
  if (open.size === 0) process.off("exit", removeAll);
}

function removeAll(): void {
  for (const path of open) rmSync(path, { force: true });
}
