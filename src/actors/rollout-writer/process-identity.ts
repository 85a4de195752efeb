import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import type { LockOwner } from "../../messages/rollout-command.js";

/** Which process this is, on which machine: what others need to find out whether it still lives. */
export async function processIdentity(): Promise<Omit<LockOwner, "token" | "socket">> {
  return {
    pid: process.pid,
    host: await hostIdentity(),
    bootId: (await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")).trim(),
    pidNamespace: await readlink("/proc/self/ns/pid").catch(() => ""),
  };
}

/** One that looks at the locks of others and has none: nothing is made for it. */
export async function onlooker(): Promise<LockOwner> {
  return { token: "", socket: "", ...(await processIdentity()) };
}

/** A machine id alone may be that of an image many machines were made from. */
async function hostIdentity(): Promise<string> {
  const id = (await readFile("/etc/machine-id", "utf8").catch(() => "")).trim();
  return id === "" ? "" : `${id} ${hostname()}`;
}
