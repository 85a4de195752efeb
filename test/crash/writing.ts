import assert from "node:assert/strict";
import { join } from "node:path";
import { RolloutOutbox } from "../../src/actors/rollout-writer/outbox.js";
import { openOwnerSocket, type OwnerSocket } from "../../src/actors/rollout-writer/rollout-locks.js";
import type { Rollout } from "../../src/actors/rollout-writer/rollout.js";
import type { OpenOutcome, SaveOutcome } from "../../src/messages/actors/rollout-writer.js";
import type { FileSystem } from "../../src/rollouts/file/file-system.js";
import { numberedLine } from "./numbered-lines.js";
import { LocalWriter } from "../support/local-writer.js";
import { plainEncoder } from "../support/redaction.js";

/** Where lines are written, and callbacks for the outcomes. */
export interface Place {
  readonly fileSystem: FileSystem;
  readonly directory: string;
  readonly runtimeDirectory: string;
  /** Resolves when no disk call is pending. */
  quiet(): Promise<void>;
  /** Ends a persistent fault. */
  heal(): void;
  opened(conversation: string, outcome: OpenOutcome): void;
  /** The outcome for all lines of a conversation up to this one. */
  answered(conversation: string, last: number, outcome: SaveOutcome): void;
}

/** How often saving is retried after the fault is healed: the fault may only show on the first try. */
const maxSaveTries = 3;

/** The writes of one process, with an outbox and its writer in this thread. */
export class Writing {
  readonly #place: Place;
  readonly #socket: OwnerSocket;
  readonly #outbox: RolloutOutbox;
  readonly #conversations: WrittenConversation[] = [];
  #isToCrash = false;

  static async begin(place: Place): Promise<Writing> {
    place.heal();
    return new Writing(place, await openOwnerSocket(place.runtimeDirectory));
  }

  private constructor(place: Place, socket: OwnerSocket) {
    this.#place = place;
    this.#socket = socket;
    this.#outbox = new RolloutOutbox({
      writer: new LocalWriter(place.fileSystem, 1, ({ type }) => type === "append" && this.#crashes()),
      owner: async () => socket.owner,
    });
  }

  async open(id: string, mode: "create" | "append", last = 0): Promise<WrittenConversation> {
    const path = join(this.#place.directory, `${id}.jsonl`);
    const { outcome, rollout } = await this.#outbox.open({ conversationId: id, path, mode, encode: plainEncoder });
    this.#place.opened(id, outcome);
    const conversation = new WrittenConversation(this.#place, id, rollout, last);
    this.#conversations.push(conversation);
    return conversation;
  }

  crashAtNextAppend(): void {
    this.#isToCrash = true;
  }

  /** Saves everything, whatever has failed before, and stops. */
  async end(): Promise<void> {
    for (const conversation of this.#conversations) await conversation.untilSaved();
    await this.stop();
  }

  /** Stops, whether everything is saved or not. */
  async stop(): Promise<void> {
    await this.#outbox.stop();
    await this.#socket.close();
  }

  #crashes(): boolean {
    const isToCrash = this.#isToCrash;
    this.#isToCrash = false;
    return isToCrash;
  }
}

export class WrittenConversation {
  readonly #place: Place;
  readonly #id: string;
  readonly #rollout: Rollout;
  #last: number;

  constructor(place: Place, id: string, rollout: Rollout, last: number) {
    this.#place = place;
    this.#id = id;
    this.#rollout = rollout;
    this.#last = last;
  }

  /** Writes a line without waiting for it. */
  write(number: number): void {
    this.#last = number;
    this.#rollout.append(numberedLine(this.#id, number));
  }

  async say(number: number): Promise<void> {
    this.write(number);
    await this.#flush();
  }

  async untilSaved(): Promise<void> {
    for (let asked = 0; asked < maxSaveTries; asked += 1) {
      this.#place.heal();
      if ((await this.#flush()).status === "saved") return;
    }
    assert.fail(`${this.#id} is not saved although nothing stands in the way`);
  }

  async #flush(): Promise<SaveOutcome> {
    const outcome = await this.#rollout.flush();
    this.#place.answered(this.#id, this.#last, outcome);
    return outcome;
  }
}
