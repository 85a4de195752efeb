import { MessagePort, workerData } from "node:worker_threads";
import * as Comlink from "comlink";
import type { Actor, Answers, Message } from "./actor.js";
import { Cell, bindOptions } from "./spawn.js";
import { comlinkEndpoint, type Delivery, type ThreadControl, type Report } from "./thread.js";
import { Envelope } from "./mailbox.js";
import { makeFailure, messageOf } from "./failures.js";
import type { Blueprint } from "./incarnation.js";

const reportsPerBatch = 256;

// A thread's stack is larger than the main thread's, which can deserialize about 2,000 levels.
const maxDepth = 1_000;

/** Runs an actor in this thread. This call is all that a thread's entry file contains. */
export function serveActor<
  Op extends Message,
  A extends Answers<Op>,
  Options,
  Msg extends Message = never,
  Own extends Message = never,
>(actor: Actor<Op, A, Options, Msg, Own>): void {
  let served: ServedActor | undefined;
  const control: ThreadControl = {
    start: ({ options, reports, capacity, budget }) => {
      const reporter = new Reporter(reports, actor.name);
      const cell = new Cell(reportingStart(bindOptions(actor, options as Options), reporter), {
        capacity,
        ...(budget && { budget }),
        onEvent: (event) => reporter.report({ type: "published", event }),
        onRestart: (failure) => reporter.report({ type: "restarted", failure }),
        onFailed: (failure) => reporter.report({ type: "failed", failure }),
      });
      served = new ServedActor(cell, reporter);
    },
    deliver: (batch) => served?.deliver(batch) ?? 0,
    cancel: (number) => served?.cancel(number),
    stop: () => void served?.stop(),
  };
  const port = controlPort();
  port.on("messageerror", (error) => {
    // The call in the unreadable message would never be answered, but the death of the thread is noticed.
    throw error;
  });
  Comlink.expose(control, comlinkEndpoint(port));
}

class ServedActor {
  readonly #cell: Cell;
  readonly #reporter: Reporter;
  readonly #cancellable = new Map<number, Envelope>();
  #acceptedThrough = 0;

  constructor(cell: Cell, reporter: Reporter) {
    this.#cell = cell;
    this.#reporter = reporter;
  }

  deliver(batch: readonly Delivery[]): number {
    for (const delivery of batch) {
      const accepted = this.#cell.submit(this.#envelope(delivery));
      if (accepted) this.#acceptedThrough = delivery.number;
    }
    return this.#acceptedThrough;
  }

  cancel(number: number): void {
    const envelope = this.#cancellable.get(number);
    if (envelope !== undefined) this.#cell.cancel(envelope);
  }

  async stop(): Promise<void> {
    await this.#cell.stop();
    // Sent on the report port rather than as this call's result, so that it arrives after all other reports.
    this.#reporter.report({ type: "stopped" });
  }

  #envelope({ number, op, kind }: Delivery): Envelope {
    const envelope = new Envelope(
      String(number),
      op,
      {
        accepted: () => {
          this.#acceptedThrough = number;
          this.#reporter.report({ type: "accepted", through: number });
        },
        answered: (answer) => {
          this.#cancellable.delete(number);
          if (kind !== "tell") this.#reporter.report({ type: "answered", number, answer });
        },
        refused: ({ failure }) => {
          this.#cancellable.delete(number);
          // Acceptance already resolved the tell; its caller must not get a second result from the other port.
          if (kind === "tell" && number <= this.#acceptedThrough) return;
          this.#reporter.report({ type: "refused", number, failure });
        },
      },
      kind === "cancellable_ask" ? new AbortController() : undefined,
    );
    if (envelope.controller !== undefined) this.#cancellable.set(number, envelope);
    return envelope;
  }
}

/** Reports the first successful start; later ones are restarts. */
function reportingStart(actor: Blueprint, reporter: Reporter): Blueprint {
  let started = false;
  return {
    name: actor.name,
    start: async (context) => {
      const handlers = await actor.start(context);
      if (!started) reporter.report({ type: "started" });
      started = true;
      return handlers;
    },
  };
}

function controlPort(): MessagePort {
  const data: unknown = workerData;
  const port = typeof data === "object" && data !== null && "control" in data ? data.control : undefined;
  if (!(port instanceof MessagePort)) throw new Error("serveActor: not in a thread that spawnThread has started");
  return port;
}

/** Sends reports in batches: one port message per turn of the thread. */
class Reporter {
  readonly #port: MessagePort;
  readonly #name: string;
  #batch: Report[] = [];

  constructor(port: MessagePort, name: string) {
    this.#port = port;
    this.#name = name;
  }

  report(report: Report): void {
    this.#batch.push(report);
    if (this.#batch.length === 1) queueMicrotask(() => this.#flush());
    if (this.#batch.length >= reportsPerBatch) this.#flush();
  }

  #flush(): void {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    try {
      assertShallow(batch);
      this.#port.postMessage(batch, []);
    } catch {
      for (const report of batch) this.#post(report);
    }
  }

  /** Posts one report alone, so that a report that cannot be cloned does not lose the others. */
  #post(report: Report): void {
    try {
      assertShallow(report);
      this.#port.postMessage([report], []);
    } catch (error) {
      const message = `${this.#name}: cannot cross to the main thread: ${messageOf(error)}`;
      if (report.type === "answered") {
        const failure = makeFailure("bad_message", message);
        this.#port.postMessage([{ type: "refused", number: report.number, failure } satisfies Report], []);
      } else {
        process.emitWarning(message);
      }
    }
  }
}

/** Walks like structured cloning: an object that was already visited is skipped. */
function assertShallow(value: unknown, seen = new Set<object>(), depth = 0): void {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || seen.has(value)) return;
  if (depth > maxDepth) throw new RangeError(`more than ${maxDepth} levels deep`);
  seen.add(value);
  for (const member of Object.values(value)) assertShallow(member, seen, depth + 1);
}
