// Measures durable appends per second through the outbox and the writer thread, compared with direct writes.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openBareFiles } from "./support/bare-files.js";
import { inLanes, interleaved, median, perSecond } from "./support/measure.js";
import { openRollouts } from "./support/open-rollouts.js";
import { met, percent, printTable, whole } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";

const rounds = 7;
const conversations = 1_000;
const oneByOne = 400;
const grouped = 10_000;
const inFlight = 100;
const linesEach = 3;
const nanosecondsPerMillisecond = 1e6;

interface Delay {
  readonly p99: number;
  readonly max: number;
}

await using directory = await temporaryDirectory();
await using files = await openBareFiles(directory.path, conversations);
await using rollouts = await openRollouts(directory.path, conversations);
const delays = new Map<string, Delay[]>();
const lines = conversations * linesEach;

const measured = await interleaved(rounds, [
  { name: "one file, write and sync each line", measure: () => files.oneByOne(oneByOne) },
  {
    name: "1 conversation, one line at a time",
    measure: () =>
      rateWithLoopDelay("1 conversation, one line at a time", oneByOne, () =>
        inLanes(1, oneByOne, () => rollouts.save(0)),
      ),
  },
  { name: "one file, 100 lines for each sync", measure: () => files.grouped(grouped, inFlight) },
  {
    name: "1 conversation, 100 lines in flight",
    measure: () =>
      rateWithLoopDelay("1 conversation, 100 lines in flight", grouped, () =>
        inLanes(inFlight, grouped, () => rollouts.save(0)),
      ),
  },
  { name: "1,000 files, four at a time", measure: () => files.inPool(linesEach) },
  {
    name: "1,000 conversations at once",
    measure: () =>
      rateWithLoopDelay("1,000 conversations at once", lines, () =>
        Promise.all(
          Array.from({ length: conversations }, (_, index) => inLanes(1, linesEach, () => rollouts.save(index))),
        ),
      ),
  },
]);

printTable(
  `Lines of ${files.lineBytes} bytes made durable, lines/s (median of ${rounds})`,
  ["what", "rate", "limit", "its rate", "share", "goal", "", "loop p99 ms", "max ms"],
  [
    row("1 conversation, one line at a time", "one file, write and sync each line", 0.4),
    row("1 conversation, 100 lines in flight", "one file, 100 lines for each sync", 0.25),
    row("1,000 conversations at once", "1,000 files, four at a time", 0.6),
  ],
);
console.log("  (an idle loop shows 1.1 to 1.3 ms: it is looked at every millisecond)");

/** Measures a rate and also records the event loop delay of the main thread. */
async function rateWithLoopDelay(name: string, count: number, work: () => Promise<unknown>): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  const rate = await perSecond(count, work);
  histogram.disable();
  const delay = {
    p99: histogram.percentile(99) / nanosecondsPerMillisecond,
    max: histogram.max / nanosecondsPerMillisecond,
  };
  delays.set(name, [...(delays.get(name) ?? []), delay]);
  return rate;
}

function row(subject: string, limit: string, goal: number): string[] {
  const rate = measured.get(subject) ?? Number.NaN;
  const best = measured.get(limit) ?? Number.NaN;
  const seen = delays.get(subject) ?? [];
  return [
    subject,
    whole(rate),
    limit,
    whole(best),
    percent(rate / best),
    `>= ${percent(goal)}`,
    met(rate / best >= goal),
    median(seen.map(({ p99 }) => p99)).toFixed(1),
    median(seen.map(({ max }) => max)).toFixed(1),
  ];
}
