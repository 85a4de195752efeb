import assert from "node:assert/strict";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { RolloutRecorder } from "../../src/actors/rollout-writer/recorder.js";
import { questionsOf, readAppended, turnOf, type AppendedTurns } from "./appended-turns.js";
import type { AppenderOrder } from "./appender.js";
import type { ShortLivedChildren } from "./short-lived-children.js";
import { longAnswers, newQuestion } from "./question.js";
import type { Random } from "./random.js";

/** Some processes are killed while they write their first lines, others much later. */
const kinds = [
  { answers: { shortest: 20, longest: 5_000 }, inFlight: 2, latestReport: 120 },
  { answers: { shortest: 20, longest: 5_000 }, inFlight: 4, latestReport: 12 },
  { answers: { shortest: 20, longest: 60_000 }, inFlight: 2, latestReport: 12 },
  // Writing several of these at once takes so long that a kill can hit in between.
  { answers: longAnswers, inFlight: 5, latestReport: 3 },
] as const;
/** The kill comes at most this many event loop rounds after the last awaited report. */
const longestDelay = 300;

interface Appended {
  readonly id: string;
  /** The questions of all acknowledged turns, over all processes. */
  readonly saved: string[];
  isThere: boolean;
}

/** A few conversations that one process after another appends to, each until it is killed. */
export class AppendedConversations {
  readonly conversations: readonly Appended[] = ["a", "b", "c"].map((id) => ({ id, saved: [], isThere: false }));
  /** Questions of acknowledged turns that are missing from the file. */
  readonly lost: string[] = [];
  tornTails = 0;
  readonly #directory: string;
  readonly #runtimeDirectory: string;
  readonly #random: Random;
  #round = 0;

  constructor(directory: string, runtimeDirectory: string, random: Random) {
    this.#directory = directory;
    this.#runtimeDirectory = runtimeDirectory;
    this.#random = random;
  }

  get acknowledged(): number {
    return this.conversations.reduce((sum, { saved }) => sum + saved.length, 0);
  }

  /** Runs one process, kills it, and checks the files it leaves. */
  async kill(children: ShortLivedChildren): Promise<void> {
    this.#round += 1;
    await mkdir(this.#directory, { recursive: true });
    const random = this.#random;
    const { latestReport, ...kind } = random.pick(kinds) ?? kinds[0];
    const appended = random.sample(this.conversations, random.whole(1, this.conversations.length));
    const order: AppenderOrder = {
      directory: this.#directory,
      runtimeDirectory: this.#runtimeDirectory,
      conversations: appended.map(({ id }) => id),
      round: this.#round,
      ...kind,
      seed: random.whole(0, 2 ** 31),
    };
    const moment = { reports: random.magnitude(1, latestReport), delay: random.magnitude(1, longestDelay) };
    for (const { conversation, question } of await children.kill(order, moment)) {
      if (question !== undefined) appended.find(({ id }) => id === conversation)?.saved.push(question);
    }
    for (const one of appended) await this.#look(one);
  }

  /** Runs one more process that shuts down normally; returns the number of temporary files left behind. */
  async goOn(): Promise<number> {
    const recorder = new RolloutRecorder(this.#directory, { env: { XDG_RUNTIME_DIR: this.#runtimeDirectory } });
    const left = this.conversations.filter(({ isThere }) => isThere);
    for (const one of left) {
      const question = newQuestion("round 0 turn 1", this.#random);
      await recorder.appendTurn(one.id, turnOf(question));
      one.saved.push(question);
    }
    await recorder.close();
    for (const one of left) {
      const { questions, tornBytes } = await this.#look(one);
      assert.equal(tornBytes, 0);
      // Read by the product: the same turns, and possibly some that were not written completely.
      const read = questionsOf(await recorder.readRollout(one.id));
      assert.deepEqual(
        read.filter((question) => questions.includes(question)),
        questions,
      );
    }
    const names = await readdir(this.#directory);
    const beside = names.filter((name) => !/\.jsonl(\.torn-\d+)?$/.test(name));
    const strays = beside.filter((name) => name.endsWith(".tmp"));
    assert.deepEqual(beside, strays);
    return strays.length;
  }

  async #look(one: Appended): Promise<AppendedTurns> {
    const read = await readAppended(join(this.#directory, `${one.id}.jsonl`));
    const found = new Set(read?.questions);
    this.lost.push(...one.saved.filter((question) => !found.has(question)));
    one.isThere ||= read !== undefined;
    const turns = read ?? { questions: [], tornBytes: 0 };
    if (turns.tornBytes > 0) this.tornTails += 1;
    return turns;
  }
}
