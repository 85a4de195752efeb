import type { Envelope } from "./envelope.js";
import { LinkedList } from "./linked-list.js";

/** A bounded queue: a message holds its place from acceptance until its handler has ended. */
export class Mailbox {
  readonly #queue = new LinkedList<Envelope>();
  readonly #waiting = new LinkedList<Envelope>();
  #places: number;

  constructor(capacity: number) {
    this.#places = capacity;
  }

  get isEmpty(): boolean {
    return this.#queue.isEmpty;
  }

  get hasPlace(): boolean {
    return this.#places > 0;
  }

  /** Returns whether the message was accepted at once; otherwise it waits for a place. */
  offer(envelope: Envelope): boolean {
    if (this.#places === 0) {
      this.#waiting.push(envelope);
      return false;
    }
    this.#places -= 1;
    this.#enqueue(envelope);
    return true;
  }

  /** Enqueues an actor's own message without a place: the messages that hold the places may be waiting for it. */
  insist(envelope: Envelope): void {
    this.#enqueue(envelope);
  }

  shift(): Envelope | undefined {
    return this.#queue.shift();
  }

  /** Passes a freed place to the message that has waited longest. */
  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#places += 1;
      return;
    }
    this.#enqueue(next);
    next.caller?.accepted();
  }

  /** Removes a message that no handler has started yet. */
  remove(envelope: Envelope): void {
    if (envelope.status === "waiting") {
      this.#waiting.remove(envelope);
    } else {
      this.#queue.remove(envelope);
      this.release();
    }
  }

  /** Removes and returns all messages; the mailbox is not used again. */
  clear(): Envelope[] {
    const envelopes: Envelope[] = [];
    for (const list of [this.#queue, this.#waiting]) {
      for (let next = list.shift(); next !== undefined; next = list.shift()) envelopes.push(next);
    }
    return envelopes;
  }

  #enqueue(envelope: Envelope): void {
    envelope.status = "queued";
    this.#queue.push(envelope);
  }
}
