import { readFile } from "node:fs/promises";
import { execFile } from "node:child_process";
import { SharedWork } from "../../base/time/shared-work.js";
import { markerName } from "./guarded.js";

const maxScanMs = 3_000;

// Only what every grep has: that of busybox cannot read lines that end with NUL.
const find = `exec grep -aosH "${markerName}=[0-9a-f-]*" /proc/[0-9]*/environ`;

/** One look at all processes is enough for all commands that end at the same time. */
const scan = new SharedWork(findMarked);

/** A process of a command that went its own way: it left the group and outlives it. */
export interface Survivor {
  readonly pid: number;
  /** As the process calls itself, without anything a terminal or a reader could stumble over. */
  readonly name: string;
}

const maxRounds = 5;

/** Who still carries the marker outside of the group. */
export async function findSurvivors(marker: string, group: number): Promise<Survivor[]> {
  const found = await Promise.all((await markedProcesses(marker)).map((pid) => survivor(pid, group)));
  return found.filter((one) => one !== undefined);
}

/** Kills them, and those they started meanwhile; gives back who could not be killed. */
export async function killSurvivors(marker: string, group: number): Promise<Survivor[]> {
  let found = await findSurvivors(marker, group);
  for (let round = 0; round < maxRounds && found.length > 0; round += 1) {
    for (const { pid } of found) kill(pid);
    found = await findSurvivors(marker, group);
  }
  return found;
}

async function survivor(pid: number, group: number): Promise<Survivor | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  const nameEnd = stat.lastIndexOf(")");
  const [state, , processGroup] = stat.slice(nameEnd + 2).split(" ");
  // What is left of the group was killed already and is on its way out.
  if (state === "Z" || state === "X" || Number(processGroup) === group) return undefined;
  return { pid, name: stat.slice(stat.indexOf("(") + 1, nameEnd).replaceAll(/[^ -~]/g, "?") };
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone meanwhile, or no longer ours to kill.
  }
}

/** Process ids by the marker in their environment. */
type MarkedProcesses = ReadonlyMap<string, readonly number[]>;

/** The processes that carry the marker, as they are after this call. Linux only: elsewhere nobody is found. */
async function markedProcesses(marker: string): Promise<readonly number[]> {
  if (process.platform !== "linux") return [];
  return (await scan.ask()).get(marker) ?? [];
}

/** In a process of its own, since reading the environment of a process that hangs in the kernel can hang too. */
function findMarked(): Promise<MarkedProcesses> {
  const options = { env: { PATH: "/usr/bin:/bin", LC_ALL: "C" }, timeout: maxScanMs, killSignal: "SIGKILL" } as const;
  return new Promise((resolve) => {
    // A failure is no reason to throw away what was found: the files of other users cannot be read.
    execFile("/bin/sh", ["-c", find], options, (_, stdout) => resolve(byMarker(stdout)));
  });
}

function byMarker(found: string): MarkedProcesses {
  const processes = new Map<string, number[]>();
  for (const [, pid, marker = ""] of found.matchAll(/\/proc\/(\d+)\/environ:[^=]*=([0-9a-f-]*)/g)) {
    processes.set(marker, [...(processes.get(marker) ?? []), Number(pid)]);
  }
  return processes;
}
