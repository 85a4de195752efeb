import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import type { LockOwner } from "../../messages/rollout-command.js";
import { socketPath } from "../../rollouts/runtime-directory.js";
import { sweepSockets } from "../../rollouts/sweep-sockets.js";
import { processIdentity } from "./process-identity.js";

export interface OwnerSocket {
  readonly owner: LockOwner;
  close(): Promise<void>;
}

/**
 * Listens for as long as this process lives: whoever finds one of our locks connects to learn whether we do. Held by
 * the main thread, so that a new writer thread keeps the locks of the old one.
 */
export async function openOwnerSocket(directory: string): Promise<OwnerSocket> {
  const token = randomBytes(16).toString("hex");
  const path = socketPath(directory, token);
  const server = createServer((socket) => socket.destroy());
  await listen(server, path);
  // It must never be the reason why a process does not end.
  server.unref();
  removeAtExit(path);
  // Nobody waits for it: it tidies up after others.
  void sweepSockets(directory, Date.now()).catch(() => undefined);
  const owner: LockOwner = { token, ...(await processIdentity()), socket: path };
  return { owner, close: () => close(server, path) };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      // A connection that could not be taken says nothing about the locks.
      server.on("error", () => {});
      resolve();
    });
  });
}

/** The sockets of this process, for a program that ends without closing them. */
const open = new Set<string>();

function removeAtExit(path: string): void {
  if (open.size === 0) process.once("exit", removeAll);
  open.add(path);
}

function removeAll(): void {
  for (const path of open) rmSync(path, { force: true });
}

async function close(server: Server, path: string): Promise<void> {
  open.delete(path);
  if (open.size === 0) process.off("exit", removeAll);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  await rm(path, { force: true });
}
