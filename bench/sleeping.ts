// Measures sleeping conversations: the heap that each one keeps, and the time to wake one while others play turns.
import { setMaxListeners } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Conversation } from "../src/actors/conversation/handle.js";
import type { ModelEvent, ModelRequest } from "../src/messages/model.js";
import type { Provider } from "../src/providers/provider.js";
import { ConversationManager } from "./support/built-package.js";
import { loopDelay } from "./support/loop-delay.js";
import { inLanes } from "./support/measure.js";
import { met, printTable, whole } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";

const [few = 0, many = 0] = (process.env["SLEEPING_SIZES"] ?? "10000,100000").split(",").map(Number);
const awake = Number(process.env["SLEEPING_AWAKE"] ?? 1_000);
const woken = Number(process.env["SLEEPING_WOKEN"] ?? 300);
const turnsOfWoken = 20;
const rounds = 3;
const lanes = 64;
/** A turn of the awake conversations takes ten seconds: an answer of 50 deltas. */
const deltas = 50;
const paceMs = 200;
const usage = {
  input_tokens: 10,
  cached_input_tokens: 0,
  output_tokens: deltas,
  reasoning_output_tokens: 0,
  total_tokens: 10 + deltas,
};
const goals = { bytes: 2_048, p50: 5, p99: 25 };

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Turns of the awake conversations. */
let played = 0;
const provider: Provider = { name: "local", stream: answer };

await using directory = await temporaryDirectory();
await using manager = new ConversationManager({
  home: directory.path,
  env: { XDG_RUNTIME_DIR: directory.path },
  providers: [provider],
  idleAfter: Infinity,
});

// Compiles the code and fills the caches.
await openAsleep(100);
const before = await memory();
const atFew = await grownTo(few);
const atMany = await grownTo(many);
const bytesEach = (atMany.heap - atFew.heap) / (many - few);
printTable(
  "Sleeping conversations of one turn, after a garbage collection",
  ["open", "heap MB", "RSS MB", "opened per second"],
  [before, atFew, atMany].map(({ count, heap, rss, perSecond }) => [
    whole(count),
    megabytes(heap),
    megabytes(rss),
    perSecond === undefined ? "" : whole(perSecond),
  ]),
);
printTable(
  "One sleeping conversation",
  ["what", "bytes", "goal", ""],
  [
    ["heap", whole(bytesEach), `<= ${goals.bytes}`, met(bytesEach <= goals.bytes)],
    ["RSS", whole((atMany.rss - atFew.rss) / (many - few)), "", ""],
  ],
);

const sleepers: Conversation[] = [];
await inLanes(lanes, woken, async () => {
  const conversation = await open("instant");
  for (let turn = 0; turn < turnsOfWoken; turn += 1) await conversation.processMessage("hi");
  await fallAsleep(conversation);
  sleepers.push(conversation);
});
const alone = await wakeTimes();
const load = new AbortController();
setMaxListeners(0, load.signal);
const awakeOnes = await Promise.all(Array.from({ length: awake }, () => open("paced")));
const playing = playTurns(awakeOnes, load.signal);
// By then all of them play.
await setTimeout(deltas * paceMs);
const playedBefore = played;
const measuredFrom = performance.now();
let busy: Wakes = { start: [], history: [] };
const delay = await loopDelay(async () => {
  busy = await wakeTimes();
});
const turnsPerSecond = ((played - playedBefore) * 1000) / (performance.now() - measuredFrom);
load.abort();
await playing;
printTable(
  `Waking conversations of ${turnsOfWoken} turns, ms; ${whole(turnsPerSecond)} other turns per second under load`,
  ["what", "p50", "p99", "max", "goal", ""],
  [
    wakeRow("alone: submit to task_started", alone.start),
    wakeRow("alone: readHistory", alone.history),
    wakeRow(`${whole(awake)} play turns: submit to task_started`, busy.start, goals),
    wakeRow(`${whole(awake)} play turns: readHistory`, busy.history, goals),
    [`${whole(awake)} play turns: loop delay`, "", delay.p99.toFixed(1), delay.max.toFixed(1), "", ""],
  ],
);

interface Memory {
  readonly count: number;
  readonly heap: number;
  readonly rss: number;
  readonly perSecond?: number;
}

/** Opens conversations until there are `size`. */
async function grownTo(size: number): Promise<Memory> {
  const missing = size - (await manager.stats()).conversations;
  const begin = performance.now();
  await openAsleep(missing);
  const seconds = (performance.now() - begin) / 1000;
  return { ...(await memory()), perSecond: missing / seconds };
}

async function memory(): Promise<Memory> {
  // The first collection ends what holds on to other garbage, such as finished promises.
  for (let round = 0; round < 3; round += 1) {
    await setImmediate();
    collectGarbage();
  }
  const { heapUsed, rss } = process.memoryUsage();
  return { count: (await manager.stats()).asleep, heap: heapUsed, rss };
}

async function openAsleep(count: number): Promise<void> {
  await inLanes(lanes, count, async () => {
    const conversation = await open("instant");
    await conversation.processMessage("hi");
    await fallAsleep(conversation);
  });
}

async function open(model: "instant" | "paced"): Promise<Conversation> {
  return (await manager.newConversation({ provider: provider.name, model })).conversation;
}

async function fallAsleep(conversation: Conversation): Promise<void> {
  if (!(await conversation.sleep())) throw new Error(`${conversation.id} does not sleep`);
}

interface Wakes {
  readonly start: number[];
  readonly history: number[];
}

/** Wakes the sleepers one after another, half of them with a message. */
async function wakeTimes(): Promise<Wakes> {
  const wakes: Wakes = { start: [], history: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, conversation] of sleepers.entries()) {
      if (index % 2 === 0) wakes.start.push(await timeToStart(conversation));
      else wakes.history.push(await timeToRead(conversation));
      await fallAsleep(conversation);
    }
  }
  return wakes;
}

async function timeToStart(conversation: Conversation): Promise<number> {
  const events = conversation.events();
  const begin = performance.now();
  const id = await conversation.submit("hi");
  let ms = Number.NaN;
  for await (const event of events) {
    if (event.id === id && event.msg.type === "task_started") ms = performance.now() - begin;
    if (event.id === id && event.msg.type === "task_complete") break;
  }
  return ms;
}

async function timeToRead(conversation: Conversation): Promise<number> {
  const begin = performance.now();
  await conversation.readHistory();
  return performance.now() - begin;
}

/** Each of the players has one turn after another, and they begin at different times. */
async function playTurns(players: readonly Conversation[], signal: AbortSignal): Promise<void> {
  const all = players.map(async (conversation, index) => {
    await setTimeout((index / awake) * deltas * paceMs, undefined, { signal }).catch(() => undefined);
    signal.addEventListener("abort", () => void conversation.interrupt(), { once: true });
    while (!signal.aborted) {
      await conversation.processMessage("hi");
      played += 1;
    }
  });
  await Promise.all(all);
}

function wakeRow(what: string, values: readonly number[], goal?: typeof goals): string[] {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  const figures = [at(0.5), at(0.99), sorted.at(-1) ?? Number.NaN].map((ms) => ms.toFixed(1));
  if (goal === undefined) return [what, ...figures, "", ""];
  return [what, ...figures, `<= ${goal.p50}, ${goal.p99}`, met(at(0.5) <= goal.p50 && at(0.99) <= goal.p99)];
}

function megabytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1);
}

async function* answer({ model }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const parts = Array.from({ length: deltas }, (_, index) => `word ${index} `);
  for (const delta of parts) {
    if (model === "paced") await setTimeout(paceMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    yield { type: "text_delta", itemId: "answer", delta };
  }
  const content = [{ type: "output_text" as const, text: parts.join("") }];
  yield { type: "item", itemId: "answer", item: { type: "message", role: "assistant", content } };
  yield { type: "usage", usage };
  yield { type: "done", finishReason: "stop" };
}
