import { setMaxListeners } from "node:events";
import { FailureError } from "../../messages/failure-error.js";
import type { Failure } from "../../messages/failure.js";
import type { ActorEvent, SpawnOptions, RestartBudget, Actor, AnswerOf, Answers, Message, Ref } from "./actor.js";
import { makeFailure, isolateListener } from "./failures.js";
import { Incarnation, type Blueprint, type Host } from "./incarnation.js";
import { Envelope, Mailbox } from "./mailbox.js";
import { schedule, type Runnable } from "./scheduler.js";

const defaultBudget: RestartBudget = { restarts: 3, windowMs: 60_000 };

const defaultCapacity = 1024;

/** Starts an actor in this thread. */
export function spawn<
  Op extends Message,
  A extends Answers<Op>,
  Options,
  Msg extends Message = never,
  Own extends Message = never,
>(actor: Actor<Op, A, Options, Msg, Own>, options: Options, spawnOptions: SpawnOptions<Msg> = {}): Ref<Op, A> {
  const cell = new Cell(bindOptions(actor, options), spawnOptions as SpawnOptions<unknown>);
  let submissions = 0;
  const nextId = (): string => String((submissions += 1));
  return {
    tell: (op, id = nextId()) => tell(cell, id, op),
    ask: <T extends Op["type"]>(op: Extract<Op, { type: T }>, signal?: AbortSignal, id = nextId()) =>
      ask(cell, id, op, signal) as Promise<AnswerOf<A, T>>,
    stop: () => cell.stop(),
  };
}

function tell(cell: Cell, id: string, op: Message): Promise<string> {
  if (cell.refusal !== undefined) return Promise.reject(new FailureError(cell.refusal));
  if (cell.hasCapacity) {
    cell.submit(new Envelope(id, op));
    return Promise.resolve(id);
  }
  return new Promise((resolve, reject) => {
    const accepted = (): void => {
      envelope.caller = undefined;
      resolve(id);
    };
    const envelope = new Envelope(id, op, { accepted, answered: () => undefined, refused: reject });
    cell.submit(envelope);
  });
}

function ask(cell: Cell, id: string, op: Message, signal: AbortSignal | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (signal === undefined) {
      cell.submit(new Envelope(id, op, { accepted: () => undefined, answered: resolve, refused: reject }));
      return;
    }
    if (signal.aborted) {
      reject(new FailureError(makeFailure("aborted", `${cell.name}: ${op.type}: aborted`), { cause: signal.reason }));
      return;
    }
    const forget = onAborted(signal, () => cell.cancel(envelope, signal.reason));
    const caller = {
      accepted: () => undefined,
      answered: (answer: unknown) => {
        forget();
        resolve(answer);
      },
      refused: (error: FailureError) => {
        forget();
        reject(error);
      },
    };
    const envelope = new Envelope(id, op, caller, new AbortController());
    cell.submit(envelope);
  });
}

/** Calls back when the signal aborts, unless the returned function is called first. */
export function onAborted(signal: AbortSignal, callback: () => void): () => void {
  // One signal may abort hundreds of asks; Node warns of a leak above ten listeners.
  setMaxListeners(0, signal);
  signal.addEventListener("abort", callback, { once: true });
  return () => signal.removeEventListener("abort", callback);
}

/** Binds an actor to its options and erases its types; the reference around it keeps them. */
function bindOptions<Op extends Message, A extends Answers<Op>, Options, Msg extends Message, Own extends Message>(
  actor: Actor<Op, A, Options, Msg, Own>,
  options: Options,
): Blueprint {
  return {
    name: actor.name,
    start: (context) => actor.start(options, context),
  };
}

/** An actor's mailbox and the incarnations that process it, one after the other. */
export class Cell implements Runnable, Host {
  readonly #actor: Blueprint;
  readonly #mailbox: Mailbox;
  readonly #restarts: RestartWindow;
  readonly #onRestart: (failure: Failure) => void;
  readonly #onFailed: (failure: Failure) => void;
  readonly #onDropped: (id: string) => void;
  readonly #onActive: ((isActive: boolean) => void) | undefined;
  #isActive = false;
  readonly publish: (event: ActorEvent<unknown>) => void;
  #incarnation: Incarnation;
  #refusal: Failure | undefined;
  isQueued = false;
  previous: Runnable | undefined = undefined;
  next: Runnable | undefined = undefined;

  constructor(actor: Blueprint, options: SpawnOptions<unknown>) {
    this.#actor = actor;
    this.#mailbox = new Mailbox(options.capacity ?? defaultCapacity);
    this.#restarts = new RestartWindow(options.budget);
    this.#onRestart = isolateListener(actor.name, options.onRestart);
    this.#onFailed = isolateListener(actor.name, options.onFailed);
    this.#onDropped = isolateListener(actor.name, options.onDropped);
    this.#onActive = options.onActive && isolateListener(actor.name, options.onActive);
    this.publish = isolateListener(actor.name, options.onEvent);
    this.#incarnation = new Incarnation(actor, this);
    void this.#supervise();
  }

  get name(): string {
    return this.#actor.name;
  }

  /** The reason why messages are refused from now on, if they are. */
  get refusal(): Failure | undefined {
    return this.#refusal;
  }

  get hasCapacity(): boolean {
    return this.#mailbox.hasCapacity;
  }

  /** Returns whether the message was accepted at once; otherwise its caller is notified later. */
  submit(envelope: Envelope): boolean {
    if (this.#refusal !== undefined) {
      envelope.caller?.refused(new FailureError(this.#refusal));
      return false;
    }
    const accepted = this.#mailbox.offer(envelope);
    if (accepted && this.#incarnation.isLive) schedule(this);
    this.activityChanged();
    return accepted;
  }

  /** Refuses the caller at once; a handler that is already running is aborted through its signal. */
  cancel(envelope: Envelope, reason?: unknown): void {
    const { status, op, caller, controller } = envelope;
    if (status === "waiting" || status === "queued") {
      this.#mailbox.remove(envelope);
      envelope.status = "settled";
    } else if (status === "running") {
      envelope.status = "cancelled";
    } else {
      return;
    }
    caller?.refused(new FailureError(makeFailure("aborted", `${this.name}: ${op.type}: aborted`), { cause: reason }));
    controller?.abort(reason);
  }

  stop(): Promise<void> {
    const refusal = makeFailure("actor_stopped", `${this.name}: stopped`);
    if (this.#refusal === undefined) this.#refuse(refusal);
    return this.#incarnation.end(refusal);
  }

  enqueueOwn(envelope: Envelope): void {
    this.#mailbox.enqueueOwn(envelope);
    if (this.#incarnation.isLive) schedule(this);
    this.activityChanged();
  }

  release(): void {
    this.#mailbox.release();
    if (!this.#mailbox.isEmpty && this.#incarnation.isLive) schedule(this);
  }

  activityChanged(): void {
    if (this.#onActive === undefined) return;
    const isActive = !this.#mailbox.isEmpty || this.#incarnation.isActive;
    if (isActive === this.#isActive) return;
    this.#isActive = isActive;
    this.#onActive(isActive);
  }

  get hasWork(): boolean {
    return this.#incarnation.isLive && !this.#mailbox.isEmpty;
  }

  handleMessages(limit: number): number {
    let handled = 0;
    while (handled < limit && this.#incarnation.isLive) {
      const envelope = this.#mailbox.shift();
      if (envelope === undefined) break;
      this.#incarnation.handle(envelope);
      handled += 1;
    }
    return handled;
  }

  async #supervise(): Promise<void> {
    let cause: Failure | undefined;
    for (;;) {
      const current = this.#incarnation;
      if (await current.start()) {
        if (cause !== undefined) this.#onRestart(cause);
        if (this.hasWork) schedule(this);
      }
      cause = await current.failure;
      if (cause === undefined) return;
      await current.end(cause);
      if (this.#refusal !== undefined) return;
      if (!this.#restarts.spend()) return this.#fail(cause);
      this.#incarnation = new Incarnation(this.#actor, this);
    }
  }

  #fail({ message }: Failure): void {
    const { restarts, windowMs } = this.#restarts.budget;
    const failure = makeFailure(
      "actor_failed",
      `${message} (failed for good: ${restarts} restarts within ${windowMs} ms)`,
    );
    this.#refuse(failure);
    this.#onFailed(failure);
  }

  #refuse(failure: Failure): void {
    this.#refusal = failure;
    for (const envelope of this.#mailbox.clear()) {
      envelope.status = "settled";
      envelope.caller?.refused(new FailureError(failure));
      if (envelope.caller === undefined && envelope.sender === undefined) this.#onDropped(envelope.id);
    }
  }
}

/** Counts restarts in a sliding window, so that an actor that keeps failing is ended instead of restarted for ever. */
export class RestartWindow {
  readonly budget: RestartBudget;
  readonly #now: () => number;
  #restarts: number[] = [];

  /** The clock must be monotonic. */
  constructor(budget: RestartBudget = defaultBudget, now: () => number = () => performance.now()) {
    this.budget = budget;
    this.#now = now;
  }

  /** Takes one restart from the budget; returns false when none is left. */
  spend(): boolean {
    const now = this.#now();
    this.#restarts = this.#restarts.filter((time) => now - time < this.budget.windowMs);
    if (this.#restarts.length >= this.budget.restarts) return false;
    this.#restarts.push(now);
    return true;
  }
}
