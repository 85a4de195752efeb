import { setMaxListeners } from "node:events";
import { errorMessage } from "../../base/error-message.js";
import type { Failure } from "../../messages/failure.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Context, Message, Run } from "./actor.js";
import { Deferred, within } from "../../base/time/waiting.js";
import { Envelope, LinkedList } from "./mailbox.js";
import { makeFailure, toFailure } from "./failures.js";

const workBoundMs = 5_000;
const disposeBoundMs = 5_000;

/** An actor with its options bound and its types erased. */
export interface Blueprint {
  readonly name: string;
  start(context: Context<unknown, Message>): unknown;
}

/** The functions an incarnation needs from the cell that started it. */
export interface Host {
  /** Puts an incarnation's own message into the mailbox. */
  enqueueOwn(envelope: Envelope): void;
  /** Frees a place in the mailbox. */
  release(): void;
  /** Called when the incarnation may have begun or ended to be active. */
  activityChanged(): void;
  publish(event: { id: string; msg: unknown }): void;
}

type Handler = (op: Message, signal: AbortSignal, id: string) => unknown;

interface HandlerTable {
  readonly [type: string]: Handler | undefined;
  readonly [Symbol.asyncDispose]?: () => Promise<void>;
}

/** One life of an actor, from `start` until all work it started has ended. */
export class Incarnation {
  readonly #actor: Blueprint;
  readonly #host: Host;
  #handlers: HandlerTable | undefined;
  readonly #running = new LinkedList<Envelope>();
  readonly #runs = new Set<AbortController>();
  readonly #lifetime = new AbortController();
  /** Number of `start` calls, handlers and runs that have not ended. */
  #active = 0;
  #ended = false;
  #disposed = false;
  #silent = false;
  readonly #idle = new Deferred<void>();
  readonly #closed = new Deferred<void>();
  readonly #failure = new Deferred<Failure | undefined>();

  constructor(actor: Blueprint, host: Host) {
    this.#actor = actor;
    this.#host = host;
    setMaxListeners(0, this.#lifetime.signal);
  }

  /** Resolves when the incarnation ends: with the failure that ended it, or with undefined when it was stopped. */
  get failure(): Promise<Failure | undefined> {
    return this.#failure.promise;
  }

  /** Whether a handler or a run has not ended. */
  get isActive(): boolean {
    return this.#active > 0;
  }

  get isLive(): boolean {
    return this.#handlers !== undefined && !this.#ended;
  }

  /** Returns whether messages can be handled now. */
  async start(): Promise<boolean> {
    this.#active += 1;
    this.#host.activityChanged();
    try {
      this.#handlers = (await this.#actor.start(this.#context())) as HandlerTable;
    } catch (error) {
      this.#fail("start", error);
    }
    this.#workEnded();
    // `start` took so long that `end` stopped waiting for it, so its resources are released here.
    if (this.#disposed) await this.#dispose();
    return this.isLive;
  }

  /** Starts the handler of a message; never throws. */
  handle(envelope: Envelope): void {
    if (envelope.sender !== undefined && envelope.sender !== this) return;
    this.#active += 1;
    envelope.status = "running";
    this.#running.push(envelope);
    let answer: unknown;
    try {
      const handler = this.#handler(envelope.op.type);
      if (handler === undefined) return this.#unknown(envelope);
      const { signal } = envelope.controller ?? this.#lifetime;
      answer = handler.call(this.#handlers, envelope.op, signal, envelope.id);
    } catch (error) {
      return this.#onThrown(envelope, error);
    }
    if (!(answer instanceof Promise)) return this.#answered(envelope, answer);
    answer.then(
      (value: unknown) => this.#answered(envelope, value),
      (error: unknown) => this.#onThrown(envelope, error),
    );
  }

  /**
   * Refuses unanswered calls, aborts running work and waits for it, then releases the actor's resources; each wait is
   * bounded. Later calls wait for the first.
   */
  end(refusal: Failure): Promise<void> {
    if (!this.#ended) {
      this.#ended = true;
      this.#failure.resolve(undefined);
      void this.#close(refusal);
    }
    return this.#closed.promise;
  }

  async #close(refusal: Failure): Promise<void> {
    for (let next = this.#running.shift(); next !== undefined; next = this.#running.shift()) {
      const { status } = next;
      next.status = "dropped";
      if (next.sender === undefined) this.#host.release();
      if (status === "running") next.caller?.refused(new FailureError(refusal));
      next.controller?.abort();
    }
    this.#lifetime.abort();
    for (const run of this.#runs) run.abort();
    if (this.#active > 0) await within(this.#idle.promise, workBoundMs);
    this.#disposed = true;
    await this.#dispose();
    this.#silent = true;
    this.#closed.resolve();
  }

  /** Errors are ignored: the incarnation has ended either way. */
  async #dispose(): Promise<void> {
    const handlers = this.#handlers;
    this.#handlers = undefined;
    await within((async () => handlers?.[Symbol.asyncDispose]?.())(), disposeBoundMs);
  }

  /** Only the actor's own handlers count: every object inherits methods such as `toString`. */
  #handler(type: string): Handler | undefined {
    const handlers = this.#handlers;
    const handler = handlers !== undefined && Object.hasOwn(handlers, type) ? handlers[type] : undefined;
    return typeof handler === "function" ? handler : undefined;
  }

  #answered(envelope: Envelope, answer: unknown): void {
    if (this.#settle(envelope)) envelope.caller?.answered(answer);
  }

  #onThrown(envelope: Envelope, error: unknown): void {
    if (!this.#settle(envelope)) return;
    const failure = this.#fail(envelope.op.type, error);
    envelope.caller?.refused(new FailureError(failure, { cause: error }));
  }

  #unknown(envelope: Envelope): void {
    if (!this.#settle(envelope)) return;
    const message = `${this.#actor.name}: no handler for ${JSON.stringify(envelope.op.type)}`;
    if (envelope.caller === undefined) process.emitWarning(message);
    envelope.caller?.refused(new FailureError(makeFailure("bad_message", message)));
  }

  /** Returns whether the caller still waits for the handler's result. */
  #settle(envelope: Envelope): boolean {
    this.#workEnded();
    if (envelope.status === "dropped") return false;
    const { status } = envelope;
    envelope.status = "settled";
    this.#running.remove(envelope);
    if (envelope.sender === undefined) this.#host.release();
    return status === "running";
  }

  #workEnded(): void {
    this.#active -= 1;
    if (this.#ended && this.#active === 0) this.#idle.resolve();
    this.#host.activityChanged();
  }

  #fail(during: string, error: unknown): Failure {
    const failure = makeFailure("actor_failed", `${this.#actor.name}: ${during}: ${errorMessage(error)}`);
    if (!this.#ended) {
      this.#failure.resolve(failure);
      void this.end({ ...failure, retryable: true });
    }
    return failure;
  }

  #context(): Context<unknown, Message> {
    return {
      run: (work, end) => this.#run(work, end),
      publish: (msg, id = "") => {
        if (!this.#silent) this.#host.publish({ id, msg });
      },
    };
  }

  #run(work: (signal: AbortSignal) => Promise<void>, end: (failure: Failure | undefined) => Message): Run {
    const controller = new AbortController();
    if (!this.#ended) void this.#perform(controller, work, end);
    return { abort: () => controller.abort() };
  }

  async #perform(
    controller: AbortController,
    work: (signal: AbortSignal) => Promise<void>,
    end: (failure: Failure | undefined) => Message,
  ): Promise<void> {
    this.#active += 1;
    this.#runs.add(controller);
    let failure: Failure | undefined;
    try {
      await work(controller.signal);
    } catch (error) {
      failure = toFailure(error, controller.signal);
    }
    this.#runs.delete(controller);
    this.#workEnded();
    if (this.#ended) return;
    try {
      this.#host.enqueueOwn(new Envelope("", end(failure), undefined, undefined, this));
    } catch (error) {
      this.#fail("run", error);
    }
  }
}
