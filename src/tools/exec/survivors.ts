import { readFile } from "node:fs/promises";
import { execFile } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { SharedWork } from "../../base/time/shared-work.js";
import { markerName } from "./command-process.js";

const maxScanMs = 3_000;

// Uses only options that every grep supports: busybox's cannot read lines that end with NUL.
const find = `exec grep -aosH "${markerName}=[0-9a-f-]*" /proc/[0-9]*/environ`;

/** A single scan serves all commands that end at the same time. */
const scan = new SharedWork(findMarked);

/** A process that left its command's group and outlives it. */
export interface Survivor {
  readonly pid: number;
  /** The process's own name, reduced to printable ASCII. */
  readonly name: string;
}

const maxRounds = 5;

/** On a busy machine, a killed process stays visible for a while. */
const exitTimeoutMs = 1_000;
const exitPollMs = 5;

/** Finds processes with the marker that are outside the group. */
export async function findSurvivors(marker: string, group: number): Promise<Survivor[]> {
  const found = await Promise.all((await markedProcesses(marker)).map((pid) => survivor(pid, group)));
  return found.filter((one) => one !== undefined);
}

/** Kills the survivors, and any they started meanwhile; returns those that could not be killed. */
export async function killSurvivors(marker: string, group: number): Promise<Survivor[]> {
  let found = await findSurvivors(marker, group);
  for (let round = 0; round < maxRounds && found.length > 0; round += 1) {
    for (const { pid } of found) kill(pid);
    await waitForExit(found, group);
    found = await findSurvivors(marker, group);
  }
  return found;
}

async function waitForExit(killed: readonly Survivor[], group: number): Promise<void> {
  const end = performance.now() + exitTimeoutMs;
  while (performance.now() < end) {
    const left = await Promise.all(killed.map(({ pid }) => survivor(pid, group)));
    if (left.every((one) => one === undefined)) return;
    await setTimeout(exitPollMs);
  }
}

async function survivor(pid: number, group: number): Promise<Survivor | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  const nameEnd = stat.lastIndexOf(")");
  const [state, , processGroup] = stat.slice(nameEnd + 2).split(" ");
  // Processes still in the group were already killed and are about to exit.
  if (state === "Z" || state === "X" || Number(processGroup) === group) return undefined;
  return { pid, name: stat.slice(stat.indexOf("(") + 1, nameEnd).replaceAll(/[^ -~]/g, "?") };
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has exited meanwhile, or we may no longer kill it.
  }
}

/** Process ids by the marker in their environment. */
type MarkedProcesses = ReadonlyMap<string, readonly number[]>;

/** The processes that have the marker at some time after this call. Linux only: elsewhere it finds none. */
async function markedProcesses(marker: string): Promise<readonly number[]> {
  if (process.platform !== "linux") return [];
  return (await scan.ask()).get(marker) ?? [];
}

/** Runs in a separate process, because reading the environment of a process that hangs in the kernel can hang too. */
function findMarked(): Promise<MarkedProcesses> {
  const options = { env: { PATH: "/usr/bin:/bin", LC_ALL: "C" }, timeout: maxScanMs, killSignal: "SIGKILL" } as const;
  return new Promise((resolve) => {
    // The error is ignored and the findings are kept: files of other users cannot be read.
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
