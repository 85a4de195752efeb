import { expect, onTestFailed, test } from "vitest";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { ConversationManager } from "../../src/manager.js";
import type { SaveOutcome } from "../../src/messages/actors/rollout-writer.js";
import { openManager } from "../support/open-conversation.js";
import { marked, remainingProcesses } from "../support/processes.js";
import { assistant, user } from "../support/scripted-provider.js";
import { shardHeapMb, ShardWorkers } from "../support/shard-workers.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { MortalConversation } from "./mortal-conversation.js";
import { Random } from "./random.js";
import { firstSeed, shardDeaths, summarize } from "./rounds.js";

const setup = new URL("../support/unruly-setup.mjs", import.meta.url);

/** A conversation is replaced after so many turns, because its file is read after every death. */
const turnsOfOne = 40;

/** The share of conversations that wait until the next thread has died, after a turn and after each death. */
const waits = 3 / 4;

const longestDelayMs = 50;

/** How long a process may outlive the thread that started it. */
const boundMs = 2_000;

/** The ways in which threads die, as often as they are chosen. */
const deaths = ["terminate", "terminate", "exit 1", "exit 7", "throw a bug", "exhaust", "die", "die"] as const;

test(
  "conversations survive the deaths of their threads, whatever they are doing",
  async () => {
    const seed = firstSeed();
    onTestFailed(() => void process.stderr.write(`the test was begun with CODY_CRASH_SEED=${seed}\n`));
    const began = performance.now();
    const mark = marked("deaths");
    const cwd = await temporaryFolder();
    const workers = new ShardWorkers();
    const { manager } = await openManager({
      threads: shardDeaths.threads,
      setup,
      threadHeapMb: shardHeapMb,
      cwd,
      config: { toolEnv: [mark.name] },
      env: { ...mark.env, PATH: process.env["PATH"] },
    });
    const run = new Run(manager, workers, cwd, new Random(seed));
    await run.play();
    await manager.shutdown();
    expect(await remainingProcesses(mark, boundMs)).toEqual([]);
    const seconds = Math.round((performance.now() - began) / 1000);
    summarize(`shards: ${run.report()}; ${seconds} s`);
  },
  shardDeaths.timeoutMs,
);

/** Plays turns in many conversations until enough threads have died. */
class Run {
  readonly #manager: ConversationManager;
  readonly #workers: ShardWorkers;
  readonly #cwd: string;
  readonly #random: Random;
  readonly #counts = new Map<string, number>();
  readonly #players: Player[];
  #isOver = false;

  constructor(manager: ConversationManager, workers: ShardWorkers, cwd: string, random: Random) {
    this.#manager = manager;
    this.#workers = workers;
    this.#cwd = cwd;
    this.#random = random;
    this.#players = Array.from({ length: shardDeaths.conversations }, () => ({ order: undefined }));
  }

  async play(): Promise<void> {
    await Promise.all([...this.#players.map((player) => this.#playOne(player)), this.#killAll()]);
  }

  async #killAll(): Promise<void> {
    const killers = Array.from({ length: shardDeaths.killers }, () => this.#kill());
    await Promise.all([...killers, this.#hang()]);
    this.#isOver = true;
    this.#workers.wake();
  }

  report(): string {
    return [...this.#counts].map(([name, count]) => `${count} ${name}`).join(", ");
  }

  async #kill(): Promise<void> {
    while (this.#workers.ended.size < shardDeaths.deaths) {
      const death = this.#random.pick(deaths) ?? "terminate";
      if (death === "terminate") {
        await this.#random.pick([...this.#workers.living])?.worker.terminate();
        // The next one is for a moment in which the conversations have been opened again.
        await this.#order("say recovered");
      } else {
        await this.#order(death === "die" ? `die ${this.#random.whole(0, longestDelayMs)}` : death);
      }
      this.#count(death);
    }
  }

  /** Threads that hang take ten seconds each to be noticed. */
  async #hang(): Promise<void> {
    for (let loop = 0; loop < shardDeaths.loops; loop += 1) {
      await this.#order("loop");
      this.#count("loop");
    }
  }

  /** Has a conversation play a turn, and resolves when it has completed another one since. */
  async #order(input: string): Promise<void> {
    const idle = this.#players.filter(({ order }) => order === undefined);
    const player = this.#random.pick(idle);
    if (player === undefined) return;
    const played = new Promise<void>((done) => (player.order = { input, done }));
    // Its turn may be waiting for an approval, which waits for a death.
    this.#workers.wake();
    await played;
  }

  async #playOne(player: Player): Promise<void> {
    let mortal = await this.#open(player);
    while (!this.#isOver || player.order !== undefined) {
      if (mortal.turns >= turnsOfOne) {
        await mortal.finish();
        mortal = await this.#open(player);
      }
      const { order } = player;
      if (order === undefined) {
        await this.#playTurns(mortal);
        // Otherwise most of the time would be spent on turns beside which no thread dies.
        while (!this.#isOver && player.order === undefined && this.#random.next() < waits) await this.#workers.nextEnd;
        continue;
      }
      this.#count(await mortal.play(order.input));
      while ((await mortal.play("say alive")) !== "task_complete");
      player.order = undefined;
      order.done();
    }
    await expectAnswers(mortal.conversation);
    await mortal.finish();
  }

  async #open(player: Player): Promise<MortalConversation> {
    const { conversation, saved } = await this.#manager.newConversation({ provider: "unruly", model: "unruly" });
    expectSaved(saved);
    this.#count("conversations");
    return new MortalConversation({
      conversation,
      workers: this.#workers,
      cwd: this.#cwd,
      decide: async () => {
        const mayWait = !this.#isOver && player.order === undefined;
        if (mayWait && this.#random.next() < 1 / 3) await this.#workers.nextEnd;
        return this.#random.next() < 3 / 4 ? "approved" : "denied";
      },
    });
  }

  async #playTurns(mortal: MortalConversation): Promise<void> {
    const { conversation } = mortal;
    const dice = this.#random.whole(1, 12);
    if (dice <= 4) this.#count(await mortal.play("say something"));
    else if (dice <= 7) this.#count(await mortal.play(`slow ${this.#random.magnitude(1, 200)}`));
    else if (dice === 8) this.#count(await mortal.play(mortal.effect()));
    else if (dice === 9) {
      const inputs = ["say one", "slow 20", mortal.effect(), "say two"];
      for (const end of await Promise.all(inputs.map((input) => mortal.play(input)))) this.#count(end);
    } else if (dice === 10) await conversation.processMessage("slow 10");
    else if (dice === 11) await conversation.sleep();
    else await conversation.rename(`name ${this.#random.whole(1, 100)}`);
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
}

function expectSaved(outcome: SaveOutcome): void {
  expect(outcome).toEqual({ status: "saved" });
}

/** A thread that was ordered to end a moment later may do so during the last turn, which is then played again. */
async function expectAnswers(conversation: Conversation): Promise<void> {
  for (;;) {
    const items = await conversation.processMessage("say last");
    if (JSON.stringify(items).includes("<turn_aborted>")) continue;
    return expect(items).toEqual([user("say last"), assistant("last")]);
  }
}

interface Player {
  /** The input that the conversation plays next. */
  order: { readonly input: string; done(): void } | undefined;
}
