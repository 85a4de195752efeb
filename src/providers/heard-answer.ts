import type { Failure } from "../messages/failure.js";
import { isRecord } from "../messages/is-record.js";
import { ModelEvent } from "../messages/model.js";
import { check } from "../messages/parse.js";
import { cutAnswer } from "./cut-answer.js";
import { ReadyStream } from "./ready-stream.js";

export type Delta = Extract<ModelEvent, { type: "text_delta" | "reasoning_delta" | "tool_call_delta" }>;
type Rest = Exclude<ModelEvent, Delta>;

interface Waiting {
  resolve(event: Rest | "aborted"): void;
  reject(error: unknown): void;
}

/** A model in this process may always be ready; after so many, sockets, timers and interrupts have their turn. */
const deltasPerTurn = 64;

/**
 * A provider's stream that ends at once when the signal says so, whatever the provider does, and never throws.
 * Deltas are told as they come, most of them from the callback of their socket; only what is rare is waited for.
 */
export class HeardAnswer implements Disposable {
  readonly #signal: AbortSignal;
  readonly #events: AsyncIterator<ModelEvent> | Failure;
  readonly #onDelta: (delta: Delta) => void;
  #deltas = 0;
  #waiting: Waiting | undefined;

  constructor(open: () => AsyncIterable<ModelEvent>, onDelta: (delta: Delta) => void, signal: AbortSignal) {
    this.#signal = signal;
    this.#onDelta = onDelta;
    try {
      this.#events = open()[Symbol.asyncIterator]();
    } catch (error) {
      this.#events = broken(error);
    }
    signal.addEventListener("abort", this.#onAbort);
  }

  /** The next event that is no delta. */
  next(): Promise<Rest | "aborted"> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#signal.aborted) this.#onAbort();
      else this.#ask();
    });
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    // Not awaited: a stream that hangs must not hold the turn.
    if ("next" in this.#events) void letGo(this.#events).catch(() => undefined);
  }

  readonly #ask = (): void => {
    const events = this.#events;
    try {
      if ("code" in events) this.#tell({ type: "failed", failure: events });
      else if (events instanceof ReadyStream) this.#takeFrom(events);
      else events.next().then(this.#onResult, this.#onError);
    } catch (error) {
      this.#onError(error);
    }
  };

  #takeFrom(events: ReadyStream<ModelEvent>): void {
    for (let event = events.take(); event !== undefined; event = events.take()) {
      if (!this.#hear(event)) return;
    }
    events.onReady(this.#ask);
  }

  // Made once: a function for each event would cost as much as the event.
  readonly #onResult = (result: IteratorResult<ModelEvent>): void => {
    let event: ModelEvent | null;
    try {
      event = isRecord(result) && result.done === true ? null : checked(result?.value);
    } catch (error) {
      return this.#onError(error);
    }
    if (this.#hear(event)) this.#ask();
  };
  readonly #onError = (error: unknown): void => this.#tell({ type: "failed", failure: broken(error) });
  readonly #onAbort = (): void => this.#tell("aborted");

  /** Whether to go on at once. */
  #hear(event: ModelEvent | null): boolean {
    if (this.#waiting === undefined) return false;
    if (event === null) this.#tell({ type: "failed", failure: cutAnswer });
    else if (isDelta(event)) return this.#hearDelta(event);
    else this.#tell(event);
    return false;
  }

  #hearDelta(delta: Delta): boolean {
    try {
      this.#onDelta(delta);
    } catch (error) {
      this.#waiting?.reject(error);
      this.#waiting = undefined;
      return false;
    }
    this.#deltas += 1;
    if (this.#deltas % deltasPerTurn !== 0) return true;
    setImmediate(this.#ask);
    return false;
  }

  #tell(event: Rest | "aborted"): void {
    this.#waiting?.resolve(event);
    this.#waiting = undefined;
  }
}

/** What an injected provider gives may be anything. Deltas are many, so they are looked at without a schema. */
function checked(event: unknown): ModelEvent {
  if (!isRecord(event)) throw new TypeError("the stream gave no event");
  return isFitDelta(event) ? event : check(ModelEvent, event, "the stream");
}

function isFitDelta(event: object): event is Delta {
  if (!("type" in event) || !isDelta(event)) return false;
  return "itemId" in event && typeof event.itemId === "string" && "delta" in event && typeof event.delta === "string";
}

function isDelta(event: { readonly type: unknown }): event is Delta {
  return event.type === "text_delta" || event.type === "reasoning_delta" || event.type === "tool_call_delta";
}

async function letGo(events: AsyncIterator<ModelEvent>): Promise<void> {
  await events.return?.();
}

/** Providers do not throw; one that does has a bug, and whoever asked it fails with the reason. */
export function broken(error: unknown): Failure {
  return { code: "unknown", message: error instanceof Error ? error.message : String(error), retryable: false };
}
