import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { ResourceLimits } from "node:worker_threads";
import { within, Deferred } from "../../base/time/waiting.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Failure } from "../../messages/failure.js";
import type { ActorEvent, AnswerOf, Answers, Message, Ref, SpawnOptions } from "./actor.js";
import { defaultCapacity, onAborted, RestartWindow } from "./spawn.js";
import { makeFailure, messageOf, isolateListener } from "./failures.js";
import { type Delivery, type Report, Thread, type ThreadListener, type ThreadOptions } from "./thread.js";

const callsPerBatch = 256;

// Longer than an actor in the thread may take to end its work and release its resources.
const stopBoundMs = 12_000;

const defaultDeadlineMs = 30_000;

export interface ThreadSpawnOptions<Msg> extends SpawnOptions<Msg> {
  readonly resourceLimits?: ResourceLimits;
  /** A thread that does not take a message within this time is considered dead, because its event loop hangs. */
  readonly deadlineMs?: number;
}

/**
 * Starts an actor in its own thread. `entry` is a built file that calls `serveActor`. When the thread dies, calls
 * reject with `thread_died`, and a new thread replaces it behind the same reference.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- only the caller knows what the entry takes
export function spawnThread<Op extends Message, A extends Answers<Op>, Options, Msg extends Message = never>(
  entry: URL,
  options: Options,
  spawnOptions: ThreadSpawnOptions<Msg> = {},
): Ref<Op, A> {
  const { capacity = defaultCapacity, deadlineMs = defaultDeadlineMs, budget, resourceLimits } = spawnOptions;
  const name = basename(fileURLToPath(entry), ".js");
  const cell = new ThreadCell(
    { entry, name, order: { options, capacity, budget }, resourceLimits, deadlineMs },
    {
      onEvent: spawnOptions.onEvent as ((event: ActorEvent<unknown>) => void) | undefined,
      onRestart: spawnOptions.onRestart,
      onFailed: spawnOptions.onFailed,
    },
  );
  let submissions = 0;
  const nextNumber = (): number => (submissions += 1);
  return {
    tell: (op) => tell(cell, nextNumber(), op),
    ask: <T extends Op["type"]>(op: Extract<Op, { type: T }>, signal?: AbortSignal) =>
      ask(cell, nextNumber(), op, signal) as Promise<AnswerOf<A, T>>,
    stop: () => cell.stop(),
  };
}

function tell(cell: ThreadCell, number: number, op: Message): Promise<string> {
  return new Promise((resolve, reject) => {
    cell.submit({ number, op, kind: "tell", resolve: () => resolve(String(number)), reject });
  });
}

function ask(cell: ThreadCell, number: number, op: Message, signal: AbortSignal | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (signal === undefined) return cell.submit({ number, op, kind: "ask", resolve, reject });
    if (signal.aborted) {
      return reject(
        new FailureError(makeFailure("aborted", `${cell.name}: ${op.type}: aborted`), { cause: signal.reason }),
      );
    }
    const forget = onAborted(signal, () => cell.cancel(call, signal.reason));
    const call: Call = {
      number,
      op,
      kind: "cancellable_ask",
      resolve: (answer) => {
        forget();
        resolve(answer);
      },
      reject: (error) => {
        forget();
        reject(error);
      },
    };
    cell.submit(call);
  });
}

interface ThreadCellListeners {
  readonly onEvent: ((event: ActorEvent<unknown>) => void) | undefined;
  readonly onRestart: ((failure: Failure) => void) | undefined;
  readonly onFailed: ((failure: Failure) => void) | undefined;
}

/** The main thread's side of an actor in another thread. It replaces a thread that dies. */
class ThreadCell implements ThreadListener {
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
        this.#fail(report.failure);
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
      return this.#fail({ ...failure, message, retryable: false });
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
      const pending = rest.filter((delivery) => this.#calls.has(delivery));
      if (pending.length > 0) return this.#deliver(thread, pending);
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

  #fail(failure: Failure): void {
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

/** A call on its way to a thread and back. */
interface Call extends Delivery {
  resolve(value: unknown): void;
  reject(error: FailureError): void;
}

/** The calls of a reference that are not settled, in the order they were made. */
class Calls {
  readonly #unsent = new Map<number, Call>();
  readonly #unaccepted = new Map<number, Call>();
  readonly #unanswered = new Map<number, Call>();

  get size(): number {
    return this.#unsent.size + this.#unaccepted.size + this.#unanswered.size;
  }

  get unaccepted(): number {
    return this.#unaccepted.size;
  }

  add(call: Call): void {
    this.#unsent.set(call.number, call);
  }

  has({ number }: Delivery): boolean {
    return this.#unsent.has(number) || this.#unaccepted.has(number) || this.#unanswered.has(number);
  }

  isUnsent(number: number): boolean {
    return this.#unsent.has(number);
  }

  /** Moves the oldest unsent calls to the unaccepted ones and returns their messages. */
  take(limit: number): Delivery[] {
    const batch: Delivery[] = [];
    for (const call of this.#unsent.values()) {
      if (batch.length >= limit) break;
      this.#unsent.delete(call.number);
      this.#unaccepted.set(call.number, call);
      batch.push({ number: call.number, op: call.op, kind: call.kind });
    }
    return batch;
  }

  /** A mailbox accepts in order, so one number covers all calls before it. */
  accepted(through: number): void {
    for (const call of this.#unaccepted.values()) {
      if (call.number > through) return;
      this.#unaccepted.delete(call.number);
      if (call.kind === "tell") call.resolve(String(call.number));
      else this.#unanswered.set(call.number, call);
    }
  }

  answered(number: number, answer: unknown): void {
    this.#settle(number)?.resolve(answer);
  }

  refused(number: number, failure: Failure, cause?: unknown): void {
    this.#settle(number)?.reject(new FailureError(failure, { cause }));
  }

  refuseUnsent(failure: Failure): void {
    for (const number of this.#unsent.keys()) this.refused(number, failure);
  }

  refuseAll(failure: Failure): void {
    for (const calls of [this.#unanswered, this.#unaccepted, this.#unsent]) {
      for (const number of calls.keys()) this.refused(number, failure);
    }
  }

  #settle(number: number): Call | undefined {
    for (const calls of [this.#unanswered, this.#unaccepted, this.#unsent]) {
      const call = calls.get(number);
      if (call !== undefined) {
        calls.delete(number);
        return call;
      }
    }
    return undefined;
  }
}
