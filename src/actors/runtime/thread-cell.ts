import type { Failure } from "../../messages/failure.js";
import { FailureError } from "../../messages/failure-error.js";
import type { ActorEvent } from "./actor.js";
import { Calls, type Call } from "./calls.js";
import { Deferred } from "./deferred.js";
import { makeFailure, messageOf } from "./failures.js";
import { isolateListener } from "./isolated.js";
import { RestartWindow } from "./restart-window.js";
import { Thread, type ThreadListener, type ThreadOptions } from "./thread.js";
import type { Delivery, Report } from "./thread-protocol.js";
import { within } from "../../base/time/waiting.js";

const callsPerBatch = 256;

// Longer than an actor in the thread may take to end its work and release its resources.
const stopBoundMs = 12_000;

export interface ThreadCellListeners {
  readonly onEvent: ((event: ActorEvent<unknown>) => void) | undefined;
  readonly onRestart: ((failure: Failure) => void) | undefined;
  readonly onFailed: ((failure: Failure) => void) | undefined;
}

/** The main thread's side of an actor in another thread. It replaces a thread that dies. */
export class ThreadCell implements ThreadListener {
  readonly #options: ThreadOptions;
  readonly #calls = new Calls();
  readonly #restarts: RestartWindow;
  readonly #onEvent: (event: ActorEvent<unknown>) => void;
  readonly #onRestart: (failure: Failure) => void;
  readonly #onFailed: (failure: Failure) => void;
  #thread: Thread;
  #alive = true;
  #delivering = false;
  /** The reason why the thread was replaced, until the new one has started. */
  #cause: Failure | undefined;
  #refusal: Failure | undefined;
  #stopping: Promise<void> | undefined;
  readonly #stopped = new Deferred<void>();

  constructor(options: ThreadOptions, listeners: ThreadCellListeners) {
    this.#options = options;
    this.#restarts = new RestartWindow(options.order.budget);
    this.#onEvent = isolateListener(options.name, listeners.onEvent);
    this.#onRestart = isolateListener(options.name, listeners.onRestart);
    this.#onFailed = isolateListener(options.name, listeners.onFailed);
    this.#thread = new Thread(options, this);
  }

  get name(): string {
    return this.#options.name;
  }

  submit(call: Call): void {
    if (this.#refusal !== undefined) return call.reject(new FailureError(this.#refusal));
    this.#calls.add(call);
    this.#hold();
    // Deferred to a microtask, so that calls made together are sent in one batch.
    if (!this.#delivering) {
      this.#delivering = true;
      queueMicrotask(() => this.#deliverNext());
    }
  }

  cancel(call: Call, reason: unknown): void {
    const isSent = !this.#calls.isUnsent(call.number);
    this.#calls.refused(call.number, makeFailure("aborted", `${this.name}: ${call.op.type}: aborted`), reason);
    if (isSent) this.#thread.cancel(call.number);
    this.#hold();
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  report(report: Report): void {
    switch (report.type) {
      case "started":
        if (this.#cause !== undefined) this.#onRestart(this.#cause);
        this.#cause = undefined;
        break;
      case "accepted":
        this.#calls.accepted(report.through);
        this.#resume();
        break;
      case "answered":
        this.#calls.answered(report.number, report.answer);
        this.#resume();
        break;
      case "refused":
        this.#calls.refused(report.number, report.failure);
        this.#resume();
        break;
      case "published":
        this.#onEvent(report.event);
        break;
      case "restarted":
        this.#onRestart(report.failure);
        break;
      case "failed":
        this.#giveUp(report.failure);
        break;
      case "stopped":
        this.#stopped.resolve();
        break;
    }
  }

  /** Refuses all earlier calls, including unsent ones, so that a caller that repeats them keeps their order. */
  died(failure: Failure): void {
    this.#alive = false;
    this.#calls.refuseAll(failure);
    if (this.#refusal === undefined) void this.#restart(failure);
    else this.#stopped.resolve();
  }

  async #restart(failure: Failure): Promise<void> {
    this.#cause = failure;
    // The old thread may hold files that the new one needs.
    await this.#thread.close();
    if (this.#refusal !== undefined) return;
    if (!this.#restarts.spend()) {
      const { restarts, windowMs } = this.#restarts.budget;
      const message = `${failure.message} (failed for good: ${restarts} restarts within ${windowMs} ms)`;
      return this.#giveUp({ ...failure, message, retryable: false });
    }
    this.#thread = new Thread(this.#options, this);
    this.#alive = true;
    this.#hold();
    this.#deliverNext();
  }

  #resume(): void {
    this.#hold();
    if (!this.#delivering) this.#deliverNext();
  }

  #deliverNext(): void {
    this.#delivering = false;
    if (!this.#alive) return;
    const room = this.#options.order.capacity - this.#calls.unaccepted;
    const batch = this.#calls.take(Math.min(room, callsPerBatch));
    this.#delivering = batch.length > 0;
    if (this.#delivering) void this.#deliver(this.#thread, batch);
  }

  async #deliver(thread: Thread, batch: readonly Delivery[]): Promise<void> {
    try {
      const through = await thread.deliver(batch);
      if (thread !== this.#thread) return;
      this.#calls.accepted(through);
    } catch (error) {
      if (thread !== this.#thread) return;
      const rest = this.#refuseUnclonable(batch);
      if (rest.length === batch.length) return thread.die(`deliver: ${messageOf(error)}`);
      const wanted = rest.filter((delivery) => this.#calls.has(delivery));
      if (wanted.length > 0) return this.#deliver(thread, wanted);
    }
    this.#deliverNext();
    this.#hold();
  }

  #refuseUnclonable(batch: readonly Delivery[]): Delivery[] {
    return batch.filter(({ number, op }) => {
      try {
        structuredClone(op);
        return true;
      } catch (error) {
        const message = `${this.name}: ${op.type}: cannot cross to the thread: ${messageOf(error)}`;
        this.#calls.refused(number, makeFailure("bad_message", message), error);
        return false;
      }
    });
  }

  #giveUp(failure: Failure): void {
    this.#refusal = failure;
    this.#calls.refuseAll(failure);
    void this.#thread.close();
    this.#onFailed(failure);
  }

  async #stop(): Promise<void> {
    const refusal = makeFailure("actor_stopped", `${this.name}: stopped`);
    if (this.#refusal === undefined) {
      this.#refusal = refusal;
      this.#calls.refuseUnsent(refusal);
      if (this.#alive) {
        this.#thread.hold(true);
        this.#thread.stop();
        await within(this.#stopped.promise, stopBoundMs);
      }
      this.#calls.refuseAll(refusal);
    }
    await this.#thread.close();
  }

  #hold(): void {
    this.#thread.hold(this.#calls.size > 0 || this.#stopping !== undefined);
  }
}
