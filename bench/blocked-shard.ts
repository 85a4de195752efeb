// Measures how one shard that is blocked for five seconds delays the event loops of the main thread and other shards.
import { setTimeout } from "node:timers/promises";
import { BroadcastChannel } from "node:worker_threads";
import { ConversationManager } from "./support/built-package.js";
import { loopDelay, type LoopDelay } from "./support/loop-delay.js";
import { met, printTable } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";

const threads = Number(process.env["BLOCKED_THREADS"] ?? 2);
const streaming = 200;
const periodMs = 5_000;
const goal = 3;

interface Report extends LoopDelay {
  readonly type: "delay";
  readonly period: string;
  readonly thread: number;
}

await using directory = await temporaryDirectory();
await using manager = new ConversationManager({
  home: directory.path,
  env: { XDG_RUNTIME_DIR: directory.path },
  threads,
  setup: new URL("./threads/blocked-setup.js", import.meta.url),
});
const reports: Report[] = [];
const channel = new BroadcastChannel("blocked-shard");
channel.addEventListener("message", (message) => {
  const { data } = message as unknown as { readonly data: Report };
  if (data.type === "delay") reports.push(data);
});

const blocker = (await manager.newConversation({ provider: "blocks", model: String(periodMs) })).conversation;
const others = await Promise.all(
  Array.from(
    { length: streaming },
    async () => (await manager.newConversation({ provider: "streams", model: "m" })).conversation,
  ),
);
// Threads start and compile first.
await setTimeout(periodMs);
await ended("start");
const idle = await during("idle", () => setTimeout(periodMs));
await Promise.all(others.map((conversation) => conversation.submit("go")));
await setTimeout(periodMs);
await ended("warm-up");
const playing = await during("playing", () => setTimeout(periodMs));
const blocked = await during("blocked", () => blocker.processMessage("block"));
channel.close();

printTable(
  `${streaming} conversations on ${threads} shards, one shard blocked for ${periodMs / 1000} s: p99 of the event loop delay in ms`,
  ["thread", "idle", "they play", "one is blocked", "max", "to playing", "to idle", "goal", ""],
  [...blocked.keys()].map((thread) => row(thread)),
);

function row(thread: number): string[] {
  const [before, beside, now] = [idle, playing, blocked].map((delays) => delays.get(thread) ?? { p99: 0, max: 0 });
  const name = thread === 0 ? "main thread" : `shard ${thread}`;
  const figures = [before, beside, now].map((delay) => (delay?.p99 ?? 0).toFixed(2));
  const max = now?.max ?? 0;
  // The blocked shard is the one that was late by most of the period.
  if (max > periodMs / 2) return [`${name} (blocked)`, ...figures, max.toFixed(0), "", "", "", ""];
  const ratio = (base: LoopDelay | undefined): number => (now?.p99 ?? 0) / (base?.p99 ?? 0);
  const toIdle = ratio(before);
  return [
    name,
    ...figures,
    max.toFixed(0),
    `${ratio(beside).toFixed(2)}x`,
    `${toIdle.toFixed(2)}x`,
    `<= ${goal}x`,
    met(toIdle <= goal),
  ];
}

/** Returns the delays of all event loops during `work`, by thread; the main thread is 0. */
async function during(period: string, work: () => Promise<unknown>): Promise<Map<number, LoopDelay>> {
  const main = await loopDelay(work);
  return new Map([[0, main], ...(await ended(period))]);
}

/** Ends a period in every shard and returns the delays of their event loops, by thread. */
async function ended(period: string): Promise<Map<number, LoopDelay>> {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- between threads there is no origin
  channel.postMessage({ type: "end", period });
  for (;;) {
    const found = reports.filter((report) => report.period === period);
    if (found.length >= threads) return new Map(found.map((report) => [report.thread, report]));
    await setTimeout(1);
  }
}
