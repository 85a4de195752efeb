// Measures resuming a long conversation, compared with a Node process that only reads and parses the same bytes.
import { type ChildProcess, fork } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { homePaths } from "../src/config/paths.js";
import { conversationId, type Kind } from "./resume/rollout-kind.js";
import { median } from "./support/measure.js";
import { met, printTable, whole } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";
import type { Measurement } from "./threads/resume-child.js";
import type { TurnMeasurement } from "./threads/resume-turn-child.js";

const child = fileURLToPath(new URL("./threads/resume-child.js", import.meta.url));
const turnChild = fileURLToPath(new URL("./threads/resume-turn-child.js", import.meta.url));
const megabyte = 1_000_000;
const rounds = 5;
const goalRatio = 2;
const goalMb = 250;
const sizes = [10, 100];
const goalSize = 100;
const goalStallMs = 50;
const titles: Readonly<Record<Kind, string>> = {
  compacted: "compacted at every megabyte",
  whole: "never compacted: all of it is history",
};

await using directory = await temporaryDirectory();
for (const kind of ["compacted", "whole"] as const) {
  const rows: string[][] = [];
  for (const size of sizes) rows.push(...(await rowsOf(kind, size)));
  printTable(
    `Resuming a rollout ${titles[kind]}, each time in a new process (median of ${rounds}, peak: the highest)`,
    ["what", "lines, items", "ms", "x bare", "goal", "", "CPU ms", "peak MB", "goal", "", "loop blocked ms"],
    rows,
  );
}
console.log("  (without the start of the process; with the start of every thread)");
await printStalls();

/** Prints how long the main thread of a process that has played a turn is blocked by a resume and the next turn. */
async function printStalls(): Promise<void> {
  const rows: string[][] = [];
  for (const kind of ["compacted", "whole"] as const) {
    const runs: TurnMeasurement[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const home = join(directory.path, `${kind}-${goalSize}`);
      runs.push((await answerOf(fork(turnChild, [home]))) as TurnMeasurement);
    }
    const of = (what: keyof TurnMeasurement): number => median(runs.map((run) => run[what]));
    const stall = Math.max(of("resumeStall"), of("turnStall"));
    rows.push([
      `${goalSize} MB, ${titles[kind]}`,
      whole(of("resumeMs")),
      of("resumeStall").toFixed(1),
      whole(of("turnMs")),
      of("turnStall").toFixed(1),
      `<= ${goalStallMs}`,
      met(stall <= goalStallMs),
      whole(of("peakMb")),
    ]);
  }
  printTable(
    `Main thread blocked by a resume and the next turn, ms (median of ${rounds})`,
    ["rollout", "resume", "blocked", "turn", "blocked", "goal", "", "peak MB"],
    rows,
  );
}

async function rowsOf(kind: Kind, size: number): Promise<string[][]> {
  const home = join(directory.path, `${kind}-${size}`);
  const { conversations } = homePaths(home);
  await mkdir(conversations, { recursive: true, mode: 0o700 });
  const path = join(conversations, `${conversationId}.jsonl`);
  await answerOf(fork(child, ["write", path, String(size * megabyte), kind]));
  const bare: Measurement[] = [];
  const resumed: Measurement[] = [];
  // The first round warms the caches and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    const bareRun = (await answerOf(fork(child, ["bare", path]))) as Measurement;
    const resumedRun = (await answerOf(fork(child, ["resume", home]))) as Measurement;
    if (round === 0) continue;
    bare.push(bareRun);
    resumed.push(resumedRun);
  }
  return [row(`${size} MB, read and parse`, bare), row(`${size} MB, resume`, resumed, bare, size === goalSize)];
}

function row(
  what: string,
  measurements: readonly Measurement[],
  bare?: readonly Measurement[],
  hasGoal = false,
): string[] {
  const ratio = bare === undefined ? 1 : medianOf(measurements, "ms") / medianOf(bare, "ms");
  const peak = Math.max(...measurements.map(({ peakMb }) => peakMb));
  return [
    what,
    whole(medianOf(measurements, "count")),
    whole(medianOf(measurements, "ms")),
    ratio.toFixed(2),
    ...(hasGoal ? [`<= ${goalRatio}`, met(ratio <= goalRatio)] : ["", ""]),
    whole(medianOf(measurements, "cpuMs")),
    whole(peak),
    ...(hasGoal ? [`<= ${goalMb}`, met(peak <= goalMb)] : ["", ""]),
    bare === undefined ? "" : medianOf(measurements, "blockedMs").toFixed(1),
  ];
}

function medianOf(measurements: readonly Measurement[], what: keyof Measurement): number {
  return median(measurements.map((each) => each[what]));
}

async function answerOf(forked: ChildProcess): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    forked.once("message", resolve);
    forked.once("exit", (code) => reject(new Error(`ended with ${code}`)));
  });
}
