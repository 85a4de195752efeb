import type { FailureError } from "../../messages/failure-error.js";
import type { Message } from "./actor.js";

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

  get hasCapacity(): boolean {
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
  enqueueOwn(envelope: Envelope): void {
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

/** A list member that knows its neighbours, so that it can be removed in constant time. */
export interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}

/** A queue without allocations; a member can be in only one list at a time. */
export class LinkedList<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  push(member: T): void {
    member.previous = this.#last;
    if (this.#last === undefined) this.#first = member;
    else this.#last.next = member;
    this.#last = member;
  }

  shift(): T | undefined {
    const first = this.#first;
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** The member must be in this list. */
  remove(member: T): void {
    const { previous, next } = member;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    member.previous = undefined;
    member.next = undefined;
  }
}

/** The sender of a message, notified of its outcome. */
interface Caller {
  /** Called when the message had to wait for a place and now has one. */
  accepted(): void;
  answered(answer: unknown): void;
  refused(error: FailureError): void;
}

/** `cancelled`: the caller cancelled but the handler still runs; `dropped`: the handler's incarnation has ended. */
type EnvelopeStatus = "waiting" | "queued" | "running" | "cancelled" | "dropped" | "settled";

/** One message on its way through a mailbox. */
export class Envelope implements Linked<Envelope> {
  readonly id: string;
  readonly op: Message;
  /** Undefined once a tell has been accepted: it expects no further notification. */
  caller: Caller | undefined;
  /** Set on messages that an incarnation sends to itself: they need no place and are dropped when the sender ends. */
  readonly sender: object | undefined;
  /** Only a cancellable ask gets its own controller, to save allocations. */
  readonly controller: AbortController | undefined;
  status: EnvelopeStatus = "waiting";
  previous: Envelope | undefined = undefined;
  next: Envelope | undefined = undefined;

  constructor(id: string, op: Message, caller?: Caller, controller?: AbortController, sender?: object) {
    this.id = id;
    this.op = op;
    this.caller = caller;
    this.controller = controller;
    this.sender = sender;
  }
}
