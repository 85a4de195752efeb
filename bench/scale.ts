// Measures many conversations in one process: deltas/s, CPU, memory and loop delay, compared with a bare client; then
// conversations in shards compared with conversations in the main thread. An empty SCALE_SIZES or SCALE_THREADS leaves
// its part out.
import { compareThreads } from "./scale/compare-threads.js";
import { measuredIn, startServer } from "./scale/processes.js";
import { type Load, type Measured, medianOf } from "./scale/load.js";
import { met, printTable, whole } from "./support/table.js";

const deltas = 200;
/** The last one begins all turns at once in a process that has not compiled anything yet. */
const plays = [
  { turns: 3, delayMs: 0, isWarm: true },
  { turns: 3, delayMs: 10, isWarm: true },
  { turns: 3, delayMs: 30, isWarm: true },
  { turns: 1, delayMs: 10, isWarm: false },
];
const sizes = numbers(process.env["SCALE_SIZES"] ?? "1,10,100,1000");
const threads = numbers(process.env["SCALE_THREADS"] ?? "0,1,2");
const conversationsInThreads = Number(process.env["SCALE_CONVERSATIONS"] ?? 1_000);
const rounds = Number(process.env["SCALE_ROUNDS"] ?? 1);
const goals = { rate: 0.4, cpu: 1.7, firstDelta: 2, rss: 2, wallAt30: 1.25, wallAt10: 2, loop: 3 };

await using server = await startServer();
for (const play of sizes.length === 0 ? [] : plays) {
  const { turns, delayMs, isWarm } = play;
  const rows: string[][] = [];
  const ratios: string[][] = [];
  for (const conversations of sizes) {
    const load: Load = { ...play, conversations, deltas, url: server.url(delayMs), warmUpUrl: server.url(0) };
    const { bare, cody } = await medians(load);
    rows.push(row("bare client", load, bare), row("cody", load, cody));
    ratios.push(...ratiosOf(load, bare, cody));
  }
  const pace = delayMs === 0 ? "instant" : `a delta each ${delayMs} ms`;
  printTable(
    `${turns} turns x ${deltas} deltas, ${pace}${isWarm ? "" : ", in a new process"} (median of ${rounds})`,
    [
      "what",
      "N",
      "deltas/s",
      "CPU us/delta",
      "KB RSS each",
      "grown",
      "loop p50",
      "p99",
      "max ms",
      "first delta",
      "wall s",
      "wall/ideal",
      "open ms",
    ],
    rows,
  );
  printTable("cody to the bare client", ["what", "N", "ratio", "goal", ""], ratios);
}

await compareThreads({
  threads,
  conversations: conversationsInThreads,
  deltas,
  rounds,
  url: (delayMs) => server.url(delayMs),
});

/** Alternates, so that a busy moment of the machine affects both clients. */
async function medians(load: Load): Promise<{ bare: Measured; cody: Measured }> {
  const bare: Measured[] = [];
  const cody: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await measuredIn("bare", load));
    cody.push(await measuredIn("cody", load));
  }
  return { bare: medianOf(bare), cody: medianOf(cody) };
}

function numbers(list: string): number[] {
  return list.split(",").filter(Boolean).map(Number);
}

function row(what: string, load: Load, measured: Measured): string[] {
  const { wallMs, cpuMs, peakBytes, grownBytes, openMs, firstDeltaMs, delay } = measured;
  const count = load.conversations * load.turns * load.deltas;
  const idealMs = load.turns * load.deltas * load.delayMs;
  return [
    what,
    whole(load.conversations),
    whole((count * 1000) / wallMs),
    ((cpuMs * 1000) / count).toFixed(1),
    whole(peakBytes / 1024 / load.conversations),
    whole(grownBytes / 1024 / load.conversations),
    delay.p50.toFixed(1),
    delay.p99.toFixed(1),
    delay.max.toFixed(0),
    whole(firstDeltaMs),
    (wallMs / 1000).toFixed(1),
    idealMs === 0 ? "" : (wallMs / idealMs).toFixed(2),
    whole(openMs),
  ];
}

function ratiosOf({ conversations, delayMs, ...load }: Load, bare: Measured, cody: Measured): string[][] {
  if (conversations < 100) return [];
  const line = (what: string, ratio: number, goal: number, sign: "<=" | ">="): string[] => [
    what,
    whole(conversations),
    `${ratio.toFixed(2)}x`,
    `${sign} ${goal}x`,
    met(sign === "<=" ? ratio <= goal : ratio >= goal),
  ];
  const loop = line("loop p99", cody.delay.p99 / bare.delay.p99, goals.loop, "<=");
  const cpu = line("CPU per delta", cody.cpuMs / bare.cpuMs, goals.cpu, "<=");
  if (delayMs === 0) {
    return [
      line("deltas/s", bare.wallMs / cody.wallMs, goals.rate, ">="),
      cpu,
      line("RSS", cody.peakBytes / bare.peakBytes, goals.rss, "<="),
      loop,
    ];
  }
  const idealMs = load.turns * load.deltas * delayMs;
  return delayMs === 30
    ? [line("wall to ideal", cody.wallMs / idealMs, goals.wallAt30, "<="), loop]
    : [
        cpu,
        line("first delta", cody.firstDeltaMs / bare.firstDeltaMs, goals.firstDelta, "<="),
        line("wall", cody.wallMs / bare.wallMs, goals.wallAt10, "<="),
        loop,
      ];
}
