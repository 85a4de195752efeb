import { join } from "node:path";
import type { ConversationConfig } from "../../src/messages/settings/conversation-config.js";
import { ConversationManager } from "../support/built-package.js";
import { EventAudit, type Tally } from "./audit.js";
import { openFilesBelow } from "./open-files.js";
import type { Counts, SoakLoad, SoakReport } from "./load.js";
import { sampledMemory } from "./memory.js";
import { TurnWatchdog } from "./turn-watchdog.js";

interface SoakRun {
  readonly load: SoakLoad;
  readonly manager: ConversationManager;
  readonly watchdog: TurnWatchdog;
  readonly tally: Tally;
  readonly submitted: Counts;
  /** Readers of conversations whose events have not ended yet. */
  readonly readings: Set<Promise<void>>;
  isOver(): boolean;
}

/** Runs turns in many conversations until the time is over, and reports what happened. */
export async function playSoak(load: SoakLoad): Promise<SoakReport> {
  const { directory, seconds } = load;
  const manager = new ConversationManager({
    home: join(directory, "home"),
    cwd: directory,
    env: { XDG_RUNTIME_DIR: directory, OPENAI_API_KEY: "key", ANTHROPIC_API_KEY: "key" },
  });
  using watchdog = new TurnWatchdog();
  using memory = sampledMemory();
  const tally: Tally = { deltas: 0, ends: {}, retries: {}, findings: { counts: {}, details: {} } };
  const submitted: Counts = {};
  const readings = new Set<Promise<void>>();
  const cpu = process.cpuUsage();
  const begin = performance.now();
  const isOver = (): boolean => performance.now() - begin >= seconds * 1000;
  const run: SoakRun = { load, manager, watchdog, tally, submitted, readings, isOver };
  await Promise.all(Array.from({ length: load.conversations }, (_, lane) => playLane(run, lane)));
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
    interruptMs: watchdog.interruptMs,
    leftOpen: await openFilesBelow(directory),
  };
}

/** Runs one conversation after another; the last one stays open until the manager shuts down. */
async function playLane(run: SoakRun, lane: number): Promise<void> {
  const { load, manager } = run;
  // The first conversation of each lane has a different number of turns, so that lanes do not reopen at the same moment.
  for (let turns = 1 + (lane % load.turnsEach); !run.isOver(); turns = load.turnsEach) {
    const { conversation, conversationId } = await manager.newConversation(choiceOf(load, lane));
    const audit = new EventAudit(run.tally);
    const ids: string[] = [];
    const read = async (): Promise<void> => {
      for await (const event of conversation.events()) audit.see(event);
      audit.close(ids);
    };
    const reading = read();
    run.readings.add(reading);
    for (let turn = 0; turn < turns && !run.isOver(); turn += 1) {
      const id = await conversation.submit("go on");
      ids.push(id);
      await run.watchdog.over(conversation, audit, audit.ended(id));
    }
    run.submitted[conversationId] = ids.length;
    if (run.isOver()) return;
    await conversation.shutdown();
    await reading;
    run.readings.delete(reading);
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
