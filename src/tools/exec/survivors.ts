import { readFile } from "node:fs/promises";
import { markedProcesses } from "./marked-processes.js";

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
