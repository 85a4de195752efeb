import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { systemCode } from "../system-error.js";

const commandTimeoutMs = 2_000;

interface ProcessStatus {
  /** Distinguishes two processes that had the same pid one after the other; comparable on one machine and boot. */
  readonly startTime: string;
  /** Ended, but its parent has not collected its exit status yet. */
  readonly zombie: boolean;
}

/**
 * Checks whether a process of this machine, boot and pid namespace still runs. `unknown_start` means that the pid is
 * in use, but perhaps by a later process. Without proof of the contrary a process counts as running.
 */
export async function processState(pid: number, startTime: string): Promise<"running" | "gone" | "unknown_start"> {
  if (isProcessDead(pid)) return "gone";
  const status = await processStatus(pid);
  if (status === undefined) return startTime === "" ? "unknown_start" : "running";
  if (status.zombie) return "gone";
  if (startTime === "") return "unknown_start";
  return status.startTime === startTime ? "running" : "gone";
}

/** Whether a process has ended, even if its parent has not collected its exit status yet. */
export async function hasProcessEnded(pid: number): Promise<boolean> {
  return isProcessDead(pid) || (await processStatus(pid))?.zombie === true;
}

/** Returns the start time of a running process; empty if it cannot be determined. */
export async function processStartTime(pid: number): Promise<string> {
  return (await processStatus(pid))?.startTime ?? "";
}

async function processStatus(pid: number): Promise<ProcessStatus | undefined> {
  const self = await readlink("/proc/self").catch(() => undefined);
  if (self === undefined) return await statusFromPs(pid);
  // Inside a new pid namespace /proc may still show the pids of the outer one.
  if (self !== String(process.pid)) return undefined;
  return statusFromProc(await readFile(`/proc/${pid}/stat`, "latin1").catch(() => ""));
}

/**
 * Parses proc(5): after the command in parentheses, field 3 is the state, 20 the number of threads, 22 the start
 * time.
 */
function statusFromProc(stat: string): ProcessStatus | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, threads, startTime] = [fields[0], fields[17], fields[19]];
  if (startTime === undefined) return undefined;
  // While other threads of a killed process are still ending, one of them may be finishing a write.
  return { startTime, zombie: (state === "Z" || state === "X") && Number(threads) <= 1 };
}

/** macOS and the BSDs have no /proc. */
async function statusFromPs(pid: number): Promise<ProcessStatus | undefined> {
  const output = await commandOutput("ps", ["-o", "stat=", "-o", "lstart=", "-p", String(pid)]);
  const match = /^\s*(\S+)\s+(\S.*\S)\s*$/.exec(output);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return { startTime: match[2], zombie: match[1].startsWith("Z") };
}

/** Returns the output of a system command, independent of locale and time zone; empty if it fails. */
export function commandOutput(command: string, args: readonly string[]): Promise<string> {
  const env = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C", TZ: "UTC" };
  return new Promise((resolve) => {
    execFile(command, args, { env, timeout: commandTimeoutMs }, (error, stdout) => resolve(error ? "" : stdout));
  });
}

/** True if no process has this pid, or if the number cannot be a pid. */
export function isProcessDead(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return systemCode(error) === "ESRCH";
  }
}
