import { MessageChannel, Worker, type MessagePort, type ResourceLimits, type Transferable } from "node:worker_threads";
import * as Comlink from "comlink";
import { startDeadline, Deferred } from "../../base/time/waiting.js";
import type { Failure } from "../../messages/failure.js";
import type { ActorEvent, Message, RestartBudget } from "./actor.js";
import { makeFailure, messageOf } from "./failures.js";

const exitGraceMs = 100;

export interface ThreadOptions {
  readonly entry: URL;
  readonly name: string;
  readonly order: Omit<StartRequest, "reports">;
  readonly resourceLimits: ResourceLimits | undefined;
  readonly deadlineMs: number;
}

export interface ThreadListener {
  report(report: Report): void;
  /** Called once, unless the thread was closed first. */
  died(failure: Failure): void;
}

/** One life of a worker thread with an actor in it. */
export class Thread {
  readonly #options: ThreadOptions;
  readonly #listener: ThreadListener;
  readonly #worker: Worker;
  readonly #ports: readonly MessagePort[];
  readonly #remote: Comlink.Remote<ThreadControl>;
  readonly #exit = new Deferred<void>();
  #isEnded = false;
  #isHeld = false;

  constructor(options: ThreadOptions, listener: ThreadListener) {
    this.#options = options;
    this.#listener = listener;
    const control = new MessageChannel();
    const reports = new MessageChannel();
    this.#ports = [control.port1, reports.port1];
    this.#worker = new Worker(options.entry, {
      name: options.name,
      workerData: { control: control.port2 } satisfies ThreadData,
      transferList: [control.port2],
      // Threads do not inherit the flags of the process: with `--input-type` none would start.
      execArgv: [],
      ...(options.resourceLimits && { resourceLimits: options.resourceLimits }),
    });
    this.#watch();
    this.#remote = Comlink.wrap<ThreadControl>(comlinkEndpoint(control.port1));
    reports.port1.on("message", (batch: Report[]) => {
      for (const report of batch) if (!this.#isEnded) listener.report(report);
    });
    // A thread with nothing to do must not keep the process alive.
    this.#worker.unref();
    for (const port of this.#ports) port.unref();
    const order: StartRequest = { ...options.order, reports: reports.port2 };
    this.#call("start", this.#remote.start(Comlink.transfer(order, [reports.port2])));
  }

  /**
   * Resolves with the highest accepted number; rejects when the batch cannot be cloned. Any other error kills the
   * thread.
   */
  deliver(batch: readonly Delivery[]): Promise<number> {
    const answer: Promise<number> = this.#remote.deliver(batch);
    this.#expect("deliver", answer);
    return answer;
  }

  cancel(number: number): void {
    this.#call("cancel", this.#remote.cancel(number));
  }

  /** The thread reports when it has stopped. */
  stop(): void {
    this.#call("stop", this.#remote.stop());
  }

  /** While held, the thread keeps the process alive. */
  hold(held: boolean): void {
    if (held === this.#isHeld) return;
    this.#isHeld = held;
    if (held) this.#worker.ref();
    else this.#worker.unref();
  }

  /** Terminates the thread; resolves when it has exited. */
  async close(): Promise<void> {
    this.#isEnded = true;
    for (const port of this.#ports) port.close();
    await this.#worker.terminate();
    await this.#exit.promise;
  }

  /** Closes a thread that can no longer be used and reports its death. */
  die(reason: string): void {
    if (this.#isEnded) return;
    void this.close();
    this.#listener.died(makeFailure("thread_died", `${this.#options.name}: ${reason}`, true));
  }

  #watch(): void {
    this.#worker.on("error", (error) => this.die(`the thread died: ${messageOf(error)}`));
    this.#worker.on("exit", (code) => {
      this.#exit.resolve();
      this.die(`the thread exited with code ${code}`);
    });
    for (const port of this.#ports) {
      port.on("close", () => {
        // A thread that exits also closes its ports; wait briefly, because its exit code is more informative.
        setTimeout(() => this.die("the thread closed its port"), exitGraceMs).unref();
      });
      port.on("messageerror", (error) => this.die(`unreadable message from the thread: ${messageOf(error)}`));
    }
  }

  #call(what: string, answer: Promise<unknown>): void {
    this.#expect(what, answer);
    answer.catch((error: unknown) => this.die(`${what}: ${messageOf(error)}`));
  }

  /** Sets a deadline, because Comlink never settles a call to a thread that died or hangs. */
  #expect(what: string, answer: Promise<unknown>): void {
    const { deadlineMs } = this.#options;
    const onTimeout = (): void => this.die(`no answer to ${what} within ${deadlineMs} ms`);
    const forget = startDeadline(deadlineMs, onTimeout, { unref: true });
    answer.then(forget, forget);
  }
}

type Listener = Parameters<Comlink.Endpoint["addEventListener"]>[1];

/** Adapts a port to Comlink. Comlink's own adapter for Node has no types that our compiler settings accept. */
export function comlinkEndpoint(port: MessagePort): Comlink.Endpoint {
  const receivers = new Map<Listener, (data: unknown) => void>();
  return {
    postMessage: (message: unknown, transfer: Transferable[] = []) => port.postMessage(message, transfer),
    addEventListener: (_type, listener) => {
      const receive = (data: unknown): void => callListener(listener, { data });
      receivers.set(listener, receive);
      port.on("message", receive);
    },
    removeEventListener: (_type, listener) => {
      const receive = receivers.get(listener);
      if (receive !== undefined) port.off("message", receive);
      receivers.delete(listener);
    },
  };
}

function callListener(listener: unknown, event: { readonly data: unknown }): void {
  if (typeof listener === "function") listener(event);
}

/** The `workerData` of a thread; Comlink uses the port. */
interface ThreadData {
  readonly control: MessagePort;
}

interface StartRequest {
  readonly options: unknown;
  readonly capacity: number;
  readonly budget: RestartBudget | undefined;
  /** The port for reports, for the lifetime of the thread. */
  readonly reports: MessagePort;
}

/** One message sent into the thread. Its number grows by one with each submission of a reference. */
export interface Delivery {
  readonly number: number;
  readonly op: Message;
  readonly kind: "tell" | "ask" | "cancellable_ask";
}

/**
 * The functions that can be called in the thread through Comlink. All return at once, so a late answer means that the
 * thread hangs.
 */
export interface ThreadControl {
  start(order: StartRequest): void;
  /** Returns the highest number the mailbox has accepted; waiting messages are reported when they are accepted. */
  deliver(batch: readonly Delivery[]): number;
  cancel(number: number): void;
  stop(): void;
}

/** Reports from the thread, sent in batches and in order. */
export type Report =
  | { readonly type: "started" }
  | { readonly type: "accepted"; readonly through: number }
  | { readonly type: "answered"; readonly number: number; readonly answer: unknown }
  | { readonly type: "refused"; readonly number: number; readonly failure: Failure }
  | { readonly type: "published"; readonly event: ActorEvent<unknown> }
  | { readonly type: "restarted"; readonly failure: Failure }
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "stopped" };
