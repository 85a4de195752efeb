import { execFile } from "node:child_process";
import { markerName } from "./guarded.js";
import { Shared } from "../shared.js";

/** Process ids by the marker in their environment. */
type MarkedProcesses = ReadonlyMap<string, readonly number[]>;

const maxScanMs = 3_000;
// Only what every grep has: that of busybox cannot read lines that end with NUL.
const find = `exec grep -aosH "${markerName}=[0-9a-f-]*" /proc/[0-9]*/environ`;

/** One look at all processes is enough for all commands that end at the same time. */
const scan = new Shared(findMarked);

/** The processes that carry the marker, as they are after this call. Linux only: elsewhere nobody is found. */
export async function markedProcesses(marker: string): Promise<readonly number[]> {
  if (process.platform !== "linux") return [];
  return (await scan.run()).get(marker) ?? [];
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
