import { join } from "node:path";
import type { ConversationConfig } from "../../src/messages/conversation-config.js";
import { ConversationManager } from "../support/built-package.js";
import { EventAudit, type Tally } from "./audit.js";
import { leftOpen } from "./open-files.js";
import type { Counts, SoakLoad, SoakReport } from "./load.js";
import { sampledMemory } from "./memory.js";
import { Watch } from "./turn-watchdog.js";

interface World {
  readonly load: SoakLoad;
  readonly manager: ConversationManager;
  readonly watch: Watch;
  readonly tally: Tally;
  readonly submitted: Counts;
  /** Conversations that are read to their end. */
  readonly readings: Set<Promise<void>>;
  isOver(): boolean;
}

/** Plays turn after turn in many conversations until the time is over, and says what was seen. */
export async function playSoak(load: SoakLoad): Promise<SoakReport> {
  const { directory, seconds } = load;
  const manager = new ConversationManager({
    home: join(directory, "home"),
    cwd: directory,
    env: { XDG_RUNTIME_DIR: directory, OPENAI_API_KEY: "key", ANTHROPIC_API_KEY: "key" },
  });
  using watch = new Watch();
  using memory = sampledMemory();
  const tally: Tally = { deltas: 0, ends: {}, retries: {}, findings: { counts: {}, details: {} } };
  const submitted: Counts = {};
  const readings = new Set<Promise<void>>();
  const cpu = process.cpuUsage();
  const begin = performance.now();
  const isOver = (): boolean => performance.now() - begin >= seconds * 1000;
  const world: World = { load, manager, watch, tally, submitted, readings, isOver };
  await Promise.all(Array.from({ length: load.conversations }, (_, lane) => playLane(world, lane)));
  const wallMs = performance.now() - begin;
  const { user, system } = process.cpuUsage(cpu);
  await manager.shutdown();
  await Promise.all(readings);
  return {
    ...tally,
    submitted,
    wallMs,
    cpuMs: (user + system) / 1000,
    memory: memory.samples,
    interruptMs: watch.interruptMs,
    leftOpen: await leftOpen(directory),
  };
}

/** One conversation after another; the last is left open for the shutdown of the manager. */
async function playLane(world: World, lane: number): Promise<void> {
  const { load, manager } = world;
  // The first lives shorter, each as long as its number says: not all are to be opened anew at one moment.
  for (let turns = 1 + (lane % load.turnsEach); !world.isOver(); turns = load.turnsEach) {
    const { conversation, conversationId } = await manager.newConversation(choiceOf(load, lane));
    const audit = new EventAudit(world.tally);
    const ids: string[] = [];
    const read = async (): Promise<void> => {
      for await (const event of conversation.events()) audit.see(event);
      audit.close(ids);
    };
    const reading = read();
    world.readings.add(reading);
    for (let turn = 0; turn < turns && !world.isOver(); turn += 1) {
      const id = await conversation.submit("go on");
      ids.push(id);
      await world.watch.over(conversation, audit, audit.ended(id));
    }
    world.submitted[conversationId] = ids.length;
    if (world.isOver()) return;
    await conversation.shutdown();
    await reading;
    world.readings.delete(reading);
  }
}

function choiceOf({ urls }: SoakLoad, lane: number): ConversationConfig {
  const choices: readonly ConversationConfig[] = [
    { provider: "openai", api: "responses", model: "gpt-5", baseUrl: urls.responses },
    { provider: "openai", api: "chat", model: "gpt-4o", baseUrl: urls.chat },
    { provider: "anthropic", api: "messages", model: "claude-sonnet-4-20250514", baseUrl: urls.messages },
  ];
  return choices[lane % choices.length] ?? {};
}
