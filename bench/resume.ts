// What resuming a long conversation takes, beside a Node that only reads and parses the same bytes.
import { type ChildProcess, fork } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { homePaths } from "../src/config/paths.js";
import { conversationId, type Kind } from "./resume/rollout-kind.js";
import { median } from "./support/measure.js";
import { met, printTable, whole } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";
import type { Taken } from "./threads/resume-child.js";

const child = fileURLToPath(new URL("./threads/resume-child.js", import.meta.url));
const megabyte = 1_000_000;
const rounds = 5;
const goalRatio = 2;
const goalMb = 250;
const sizes = [10, 100];
const goalSize = 100;
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

async function rowsOf(kind: Kind, size: number): Promise<string[][]> {
  const home = join(directory.path, `${kind}-${size}`);
  const { conversations } = homePaths(home);
  await mkdir(conversations, { recursive: true, mode: 0o700 });
  const path = join(conversations, `${conversationId}.jsonl`);
  await answerOf(fork(child, ["write", path, String(size * megabyte), kind]));
  const bare: Taken[] = [];
  const resumed: Taken[] = [];
  // The first round warms the caches and does not count.
  for (let round = 0; round <= rounds; round += 1) {
    const taken = (await answerOf(fork(child, ["bare", path]))) as Taken;
    const other = (await answerOf(fork(child, ["resume", home]))) as Taken;
    if (round === 0) continue;
    bare.push(taken);
    resumed.push(other);
  }
  return [row(`${size} MB, read and parse`, bare), row(`${size} MB, resume`, resumed, bare, size === goalSize)];
}

function row(what: string, taken: readonly Taken[], bare?: readonly Taken[], hasGoal = false): string[] {
  const ratio = bare === undefined ? 1 : of(taken, "ms") / of(bare, "ms");
  const peak = Math.max(...taken.map(({ peakMb }) => peakMb));
  return [
    what,
    whole(of(taken, "count")),
    whole(of(taken, "ms")),
    ratio.toFixed(2),
    ...(hasGoal ? [`<= ${goalRatio}`, met(ratio <= goalRatio)] : ["", ""]),
    whole(of(taken, "cpuMs")),
    whole(peak),
    ...(hasGoal ? [`<= ${goalMb}`, met(peak <= goalMb)] : ["", ""]),
    bare === undefined ? "" : of(taken, "blockedMs").toFixed(1),
  ];
}

function of(taken: readonly Taken[], what: keyof Taken): number {
  return median(taken.map((each) => each[what]));
}

async function answerOf(forked: ChildProcess): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    forked.once("message", resolve);
    forked.once("exit", (code) => reject(new Error(`ended with ${code}`)));
  });
}
