import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import { ConversationManager } from "../support/built-package.js";
import { loopDelay, type LoopDelay } from "../support/loop-delay.js";
import { playTurn } from "./cody-client.js";
import { ThreadClock, type ThreadCpu } from "./thread-cpu.js";

/** The work of one process with shards. */
export interface ThreadLoad {
  readonly threads: number;
  readonly conversations: number;
  readonly turns: number;
  readonly deltas: number;
  /** The conversations' settings: a server or the provider of the `setup` module, with a delay and without. */
  readonly measured: Readonly<Record<string, string>>;
  readonly warmUp: Readonly<Record<string, string>>;
  /** The path of the `setup` module. */
  readonly setup: string;
}

/** The cost of the turns. */
export interface ThreadCost {
  readonly wallMs: number;
  readonly cpu: ThreadCpu;
  readonly delay: LoopDelay;
  readonly peakBytes: number;
  /** The time to open the first conversation, which starts a thread. */
  readonly startMs: number;
}

const kibibyte = 1024;

/** Enough rounds for V8 to compile hot functions in every thread. */
const warmUp = { rounds: 5, conversations: 200, turns: 4 };

/** Plays in one manager, because new threads would have to compile everything again. */
export async function playInThreads(load: ThreadLoad, directory: string): Promise<ThreadCost> {
  const clock = await ThreadClock.start();
  const threads = join(directory, "threads");
  await mkdir(threads);
  const setup = pathToFileURL(load.setup);
  setup.searchParams.set("threads", threads);
  await using manager = new ConversationManager({
    home: directory,
    env: { XDG_RUNTIME_DIR: directory, OPENAI_API_KEY: "key" },
    config: { provider: "openai", api: "responses", model: "gpt-5" },
    threads: load.threads,
    setup,
  });
  const open = (count: number, config: Readonly<Record<string, string>>): Promise<Conversation[]> =>
    Promise.all(Array.from({ length: count }, async () => (await manager.newConversation({ ...config })).conversation));
  const begin = performance.now();
  await open(1, load.warmUp);
  const startMs = performance.now() - begin;
  for (let round = 0; round < warmUp.rounds; round += 1) {
    const opened = await open(warmUp.conversations, load.warmUp);
    await play(opened, warmUp.turns, load.deltas);
    await Promise.all(opened.map((conversation) => conversation.shutdown()));
  }
  const opened = await open(load.conversations, load.measured);
  let wallMs = 0;
  let delay: LoopDelay = { p99: 0, max: 0 };
  const cpu = await clock.measure(threads, async () => {
    const start = performance.now();
    delay = await loopDelay(() => play(opened, load.turns, load.deltas));
    wallMs = performance.now() - start;
  });
  return { wallMs, cpu, delay, peakBytes: process.resourceUsage().maxRSS * kibibyte, startMs };
}

async function play(conversations: readonly Conversation[], turns: number, deltas: number): Promise<void> {
  await Promise.all(
    conversations.map(async (conversation) => {
      for (let turn = 0; turn < turns; turn += 1) await playTurn(conversation, deltas);
    }),
  );
}
