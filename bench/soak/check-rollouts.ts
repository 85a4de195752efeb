import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readRollout } from "../../src/rollouts/file/read.js";
import { inLanes } from "../support/measure.js";
import { find, type Findings } from "./checks.js";
import type { Counts } from "./load.js";

const lanes = 16;

/** Checks every rollout that a soak has written, and looks for files that should not be there. */
export async function checkRollouts(directory: string, submitted: Readonly<Counts>, findings: Findings): Promise<void> {
  const folder = join(directory, "home/conversations");
  const expected = Object.entries(submitted);
  await inLanes(lanes, expected.length, async (index) => {
    const [id, turns] = expected[index] ?? ["", 0];
    const problem = await problemOf(join(folder, `${id}.jsonl`), id, turns).catch((error: unknown) => {
      find(findings, "rollouts that cannot be read", String(error));
      return undefined;
    });
    if (problem !== undefined) find(findings, "rollouts with other turns than submitted", problem);
  });
  const rollouts = new Set(expected.map(([id]) => `${id}.jsonl`));
  const left = [...(await readdir(folder)), ...(await readdir(join(directory, "cody")))];
  for (const file of left.filter((name) => !rollouts.has(name))) {
    find(findings, "locks, sockets and strange files left", file);
  }
}

async function problemOf(path: string, id: string, turns: number): Promise<string | undefined> {
  const open = new Set<string>();
  const ended = new Set<string>();
  const reading = readRollout(path, id);
  for await (const { line } of reading) {
    if (line.type !== "event_msg") continue;
    const { payload } = line;
    if (payload.type === "task_started") {
      if (open.has(payload.turn_id) || ended.has(payload.turn_id)) return "a turn that began twice";
      open.add(payload.turn_id);
    } else if (payload.type === "task_complete" || payload.type === "turn_aborted") {
      const turn = payload.turn_id ?? "";
      if (!open.delete(turn)) return "an end of a turn that was not open";
      ended.add(turn);
    }
  }
  if (reading.end.torn > 0) return "a torn line";
  if (reading.end.skipped > 0) return "a line of an unknown kind";
  if (open.size > 0) return "a turn without an end";
  return ended.size === turns ? undefined : `${ended.size} turns of ${turns}`;
}
