import type { Envelope } from "./envelope.js";
import { LinkedList } from "./linked-list.js";

/** A bounded queue: a message holds its place from being accepted until its handler has ended. */
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

  /** Says whether the message was accepted now; otherwise it waits its turn for a place. */
  offer(envelope: Envelope): boolean {
    if (this.#places === 0) {
      this.#waiting.push(envelope);
      return false;
    }
    this.#places -= 1;
    this.#enqueue(envelope);
    return true;
  }

  /** For an actor's own message, which must not wait for a place: the places may be waiting for it. */
  insist(envelope: Envelope): void {
    this.#enqueue(envelope);
  }

  shift(): Envelope | undefined {
    return this.#queue.shift();
  }

  /** Gives a place back, to the one who has waited longest. */
  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#places += 1;
      return;
    }
    this.#enqueue(next);
    next.caller?.accepted();
  }

  /** Takes out a message that no handler has seen yet. */
  remove(envelope: Envelope): void {
    if (envelope.status === "waiting") {
      this.#waiting.remove(envelope);
    } else {
      this.#queue.remove(envelope);
      this.release();
    }
  }

  /** Takes out everything; the mailbox is not used again. */
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
