// Measures how compacting ten histories of 1 MB affects fifty streaming conversations, in the pools and in the main
// thread, and how long a turn is delayed by a prepared compaction.
import { setTimeout } from "node:timers/promises";
import { type Compacted, compactAll, openCompacted } from "./compaction/large-histories.js";
import { longestPause } from "./compaction/pause.js";
import { startServer } from "./compaction/summary-server.js";
import { printTenMegabytes } from "./compaction/ten-megabytes.js";
import { ConversationManager } from "./support/built-package.js";
import { type LoopDelay, loopDelay } from "./support/loop-delay.js";
import { median } from "./support/measure.js";
import { pacedProvider } from "./support/paced-provider.js";
import { met, printTable } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";

const rounds = 5;
const conversations = 50;
const paceMs = 10;
const phaseMs = 3_000;
const goals = { p99: 3, max: 10, latency: 1.1, pause: 0.05 };

interface Phase {
  readonly name: string;
  readonly work: () => Promise<unknown>;
  readonly delays: LoopDelay[];
  readonly ms: number[];
  /** The durations of the turns that ended in this phase. */
  readonly turns: number[];
}

await printTenMegabytes();

await using directory = await temporaryDirectory();
await using server = await startServer();
const env = { XDG_RUNTIME_DIR: directory.path };
const streaming = new ConversationManager({ home: directory.path, env, providers: [pacedProvider(paceMs)] });
const pools = await openCompacted({ home: directory.path, env, url: server.url, where: "pools" });
const here = await openCompacted({ home: directory.path, env, url: server.url, where: "main thread" });
const over = new AbortController();
let turns: number[] = [];
const talks = Array.from({ length: conversations }, talk);
await setTimeout(phaseMs);

const idle = phase("conversations only", () => setTimeout(phaseMs));
const pooled = phase("compacting in the pools", () => compactAll(pools));
const own = phase("compacting in the main thread", () => compactAll(here));
// Start the threads and load the tokenizers before measuring.
for (const each of [pools, here]) await compactAll(await refilled(each));
for (let round = 0; round < rounds; round += 1) {
  await measure(idle);
  await refilled(pools);
  await measure(pooled);
  await refilled(here);
  await measure(own);
}
over.abort();
await Promise.all(talks);
await Promise.all([streaming, pools.manager, here.manager].map((manager) => manager.shutdown()));

const [blocking, background] = [await longestPause("blocking"), await longestPause("background")];

printTable(
  `${conversations} conversations, a word each ${paceMs} ms; ten histories of 1 MB compacted at once: how late a timer comes, ms (median of ${rounds})`,
  ["what", "p99", "max", "turn ms", "compacting took ms"],
  [idle, pooled, own].map((each) => [
    each.name,
    p99Of(each).toFixed(2),
    maxOf(each).toFixed(1),
    median(each.turns).toFixed(0),
    each === idle ? "" : median(each.ms).toFixed(0),
  ]),
);
const ratios: readonly (readonly [what: string, ratio: number, goal: string, isMet: boolean])[] = [
  ratio("p99 with the pools to p99 of conversations only", p99Of(pooled) / p99Of(idle), "<=", goals.p99),
  ratio("max in the main thread to max with the pools", maxOf(own) / maxOf(pooled), ">=", goals.max),
  ratio(
    "a turn beside the pools to one without compaction",
    median(pooled.turns) / median(idle.turns),
    "<=",
    goals.latency,
  ),
  ratio(
    `pause at the trigger, prepared (${background.toFixed(0)} ms) to blocking (${blocking.toFixed(0)} ms)`,
    background / blocking,
    "<=",
    goals.pause,
  ),
];
printTable(
  "Ratios",
  ["what", "ratio", "goal", ""],
  ratios.map(([what, value, goal, isMet]) => [what, `${value.toFixed(2)}x`, goal, met(isMet)]),
);

function ratio(what: string, value: number, sign: "<=" | ">=", goal: number) {
  return [what, value, `${sign} ${goal}x`, sign === "<=" ? value <= goal : value >= goal] as const;
}

function phase(name: string, work: () => Promise<unknown>): Phase {
  return { name, work, delays: [], ms: [], turns: [] };
}

async function measure({ work, delays, ms, turns: ended }: Phase): Promise<void> {
  turns = [];
  const begin = performance.now();
  delays.push(await loopDelay(work));
  ms.push(performance.now() - begin);
  ended.push(...turns);
}

function p99Of({ delays }: Phase): number {
  return median(delays.map(({ p99 }) => p99));
}

function maxOf({ delays }: Phase): number {
  return median(delays.map(({ max }) => max));
}

async function refilled(compacted: Compacted): Promise<Compacted> {
  await compacted.refill();
  // Let background work and garbage collection finish before measuring.
  await setTimeout(500);
  return compacted;
}

async function talk(): Promise<void> {
  const { conversation } = await streaming.newConversation({ provider: "paced", model: "gpt-5" });
  while (!over.signal.aborted) {
    const begin = performance.now();
    await conversation.processMessage("go on");
    turns.push(performance.now() - begin);
  }
  await conversation.shutdown();
}
