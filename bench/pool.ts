// Measures how counting ten megabytes of text affects fifty streaming conversations, in the pool and in the main thread.
import { setImmediate, setTimeout } from "node:timers/promises";
import { exactTokens } from "../src/compaction/tokens/exact-tokens.js";
import { ConversationManager } from "./support/built-package.js";
import { type LoopDelay, loopDelay } from "./support/loop-delay.js";
import { median } from "./support/measure.js";
import { pacedProvider } from "./support/paced-provider.js";
import { met, printTable } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";
import { variedText } from "./support/varied-text.js";

const rounds = 5;
const conversations = 50;
const paceMs = 10;
const phaseMs = 2_000;
const model = "gpt-5";
const texts = Array.from({ length: 10 }, (_, index) => variedText(index, 1024 * 1024));
const p99Goal = 3;
const maxGoal = 10;

interface Phase {
  readonly name: string;
  readonly work: () => Promise<unknown>;
  readonly delays: LoopDelay[];
  readonly ms: number[];
  readonly words: number[];
}

await using directory = await temporaryDirectory();
const manager = new ConversationManager({
  home: directory.path,
  env: { XDG_RUNTIME_DIR: directory.path },
  providers: [pacedProvider(paceMs)],
});
const over = new AbortController();
let words = 0;
const talks = Array.from({ length: conversations }, talk);
await setTimeout(phaseMs);

const first = phase("first count, threads start", () => manager.countTokens(texts, { model }));
await measure(first);
await exactTokens(texts, "o200k_base");
const idle = phase("conversations only", () => setTimeout(phaseMs));
const pooled = phase("counting in the pool", () => manager.countTokens(texts, { model }));
const own = phase("counting in the main thread", countHere);
for (let round = 0; round < rounds; round += 1) for (const each of [idle, pooled, own]) await measure(each);

over.abort();
await Promise.all(talks);
await manager.shutdown();

const p99Ratio = p99Of(pooled) / p99Of(idle);
const maxRatio = maxOf(own) / maxOf(pooled);
printTable(
  `${conversations} conversations, a word each ${paceMs} ms; ${texts.length} texts of 1 MB: how late a timer comes, ms (median of ${rounds})`,
  ["what", "p99", "max", "words/s", "count took ms"],
  [first, idle, pooled, own].map((each) => [
    each.name,
    p99Of(each).toFixed(2),
    maxOf(each).toFixed(1),
    median(each.words).toFixed(0),
    each === idle ? "" : median(each.ms).toFixed(0),
  ]),
);
printTable(
  "Ratios",
  ["what", "ratio", "goal", ""],
  [
    [
      "p99 with the pool to p99 of conversations only",
      `${p99Ratio.toFixed(1)}x`,
      `<= ${p99Goal}x`,
      met(p99Ratio <= p99Goal),
    ],
    [
      "max in the main thread to max with the pool",
      `${maxRatio.toFixed(1)}x`,
      `>= ${maxGoal}x`,
      met(maxRatio >= maxGoal),
    ],
  ],
);
console.log("  (by monitorEventLoopDelay with a resolution of 1 ms, which is taken off; a long stall is one sample)");

function phase(name: string, work: () => Promise<unknown>): Phase {
  return { name, work, delays: [], ms: [], words: [] };
}

async function measure({ work, delays, ms, words: rates }: Phase): Promise<void> {
  const before = words;
  const begin = performance.now();
  delays.push(await loopDelay(work));
  ms.push(performance.now() - begin);
  rates.push(((words - before) * 1000) / (performance.now() - begin));
}

function p99Of({ delays }: Phase): number {
  return median(delays.map(({ p99 }) => p99));
}

function maxOf({ delays }: Phase): number {
  return median(delays.map(({ max }) => max));
}

/** Counts in the main thread and yields to the event loop after each text. */
async function countHere(): Promise<void> {
  for (const text of texts) {
    await exactTokens([text], "o200k_base");
    await setImmediate();
  }
}

async function talk(): Promise<void> {
  const { conversation } = await manager.newConversation({ provider: "paced", model });
  const reading = readWords(conversation.events({ since: 0 }));
  while (!over.signal.aborted) await conversation.processMessage("go on");
  await conversation.shutdown();
  await reading;
}

async function readWords(events: AsyncIterable<{ readonly msg: { readonly type: string } }>): Promise<void> {
  for await (const { msg } of events) if (msg.type === "agent_message_delta") words += 1;
}
