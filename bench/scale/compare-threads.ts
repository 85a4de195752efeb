import { fileURLToPath } from "node:url";
import { median } from "../support/measure.js";
import { met, percent, printTable, whole } from "../support/table.js";
import { costIn } from "./processes.js";
import type { ThreadCost } from "./thread-load.js";

const goals = { main: 0.25, total: 1.2, rate: 0.95 };
const setup = fileURLToPath(new URL("./threads/scale-setup.js", import.meta.url));

interface Comparison {
  readonly threads: readonly number[];
  readonly conversations: number;
  readonly deltas: number;
  readonly rounds: number;
  /** The URL of the server with a delay. */
  readonly url: (delayMs: number) => string;
}

/** Compares conversations in the main thread with conversations in shards, thread by thread. */
export async function compareThreads({ threads, rounds, url, ...size }: Comparison): Promise<void> {
  if (threads.length === 0) return;
  const server = (delayMs: number) => ({ baseUrl: url(delayMs) });
  const wanted = process.env["SCALE_LOADS"]?.split(",");
  const loads = [
    { name: "server", pace: "instant", turns: 10, measured: server(0), warmUp: server(0) },
    { name: "server10", pace: "a delta each 10 ms", turns: 3, measured: server(10), warmUp: server(0) },
    { name: "provider", pace: "instant", turns: 10, measured: inProcess(0), warmUp: inProcess(0) },
    { name: "provider10", pace: "a delta each 10 ms", turns: 3, measured: inProcess(10), warmUp: inProcess(0) },
  ];
  for (const { name, pace, turns, measured, warmUp } of loads) {
    if (wanted !== undefined && !wanted.includes(name)) continue;
    const costs = new Map<number, ThreadCost[]>(threads.map((count) => [count, []]));
    // A busy moment of the machine affects all counts.
    for (let round = 0; round < rounds; round += 1) {
      for (const count of threads) {
        costs.get(count)?.push(await costIn({ ...size, turns, threads: count, measured, warmUp, setup }));
      }
    }
    const deltas = size.conversations * turns * size.deltas;
    const where = name.startsWith("server") ? "from a server" : "from a provider in the same thread";
    printTable(
      `${whole(size.conversations)} conversations x ${turns} turns x ${size.deltas} deltas ${where}, ${pace}: ` +
        `CPU us/delta of each thread (median of ${rounds})`,
      [
        "threads",
        "deltas/s",
        "main",
        "shards",
        "writer",
        "libuv",
        "v8",
        "total",
        "loop p99",
        "max ms",
        "MB RSS",
        "start ms",
      ],
      [...costs].map(([count, all]) => row(count, deltas, all)),
    );
    const base = costs.get(0);
    if (base === undefined) continue;
    printTable(
      "to threads 0",
      ["what", "threads", "ratio", "goal", ""],
      [...costs].filter(([count]) => count > 0).flatMap(([count, all]) => ratios(count, base, all)),
    );
  }
}

function inProcess(delayMs: number): { provider: string; model: string } {
  return { provider: "in-process", model: String(delayMs) };
}

type Figure = (cost: ThreadCost) => number;

const shardsOf: Figure = ({ cpu }) => sum(cpu.shards);
const totalOf: Figure = ({ cpu }) => cpu.main + sum(cpu.shards) + cpu.writer + cpu.libuv + cpu.v8;

function row(count: number, deltas: number, costs: readonly ThreadCost[]): string[] {
  const of = (figure: Figure): number => median(costs.map(figure));
  const perDelta = (figure: Figure): string => ((of(figure) * 1000) / deltas).toFixed(2);
  return [
    whole(count),
    whole((deltas * 1000) / of(({ wallMs }) => wallMs)),
    perDelta(({ cpu }) => cpu.main),
    perDelta(shardsOf),
    perDelta(({ cpu }) => cpu.writer),
    perDelta(({ cpu }) => cpu.libuv),
    perDelta(({ cpu }) => cpu.v8),
    perDelta(totalOf),
    of(({ delay }) => delay.p99).toFixed(1),
    of(({ delay }) => delay.max).toFixed(0),
    whole(of(({ peakBytes }) => peakBytes) / 1024 / 1024),
    whole(of(({ startMs }) => startMs)),
  ];
}

function ratios(count: number, base: readonly ThreadCost[], costs: readonly ThreadCost[]): string[][] {
  const ratio = (figure: Figure): number => median(costs.map(figure)) / median(base.map(figure));
  const main = ratio(({ cpu }) => cpu.main);
  const total = ratio(totalOf);
  const rate = 1 / ratio(({ wallMs }) => wallMs);
  return [
    ["CPU of the main thread", whole(count), percent(main), `<= ${percent(goals.main)}`, met(main <= goals.main)],
    ["CPU per delta", whole(count), `${total.toFixed(2)}x`, `<= ${goals.total}x`, met(total <= goals.total)],
    ["deltas/s", whole(count), `${rate.toFixed(2)}x`, `>= ${goals.rate}x`, met(rate >= goals.rate)],
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
