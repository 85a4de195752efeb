import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import type { LockOwner } from "../../messages/rollout-command.js";
import { commandOutput, processStartTime } from "../../base/process/process-state.js";

/** Identifies this process and its machine, so that others can find out whether it is still running. */
export async function processIdentity(): Promise<Omit<LockOwner, "token" | "socket">> {
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
