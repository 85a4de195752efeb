import type { Failure } from "../messages/failure.js";
import { errorMessage } from "../base/error-message.js";
import { isRecord } from "../base/is-record.js";
import { ModelEvent } from "../messages/model.js";
import type { ResponseItem } from "../messages/response-item.js";
import { check } from "../base/parse.js";
import { incompleteAnswer } from "./failures/answer-error.js";
import { ReadyStream, itemOverheadBytes } from "./transport/transport.js";

export type Delta = Extract<ModelEvent, { type: "text_delta" | "reasoning_delta" | "tool_call_delta" }>;
type Buffered = Extract<ModelEvent, { type: "buffered" }>;
type Rest = Exclude<ModelEvent, Delta | Buffered>;
/** The reason why there are no more events: the signal was aborted, or the answer exceeds its size limit. */
type Stop = "aborted" | "too_long";

interface Waiting {
  resolve(event: Rest | Stop): void;
  reject(error: unknown): void;
}

/**
 * A provider in this process may never have to wait. After this many deltas, yield to sockets, timers and interrupts.
 */
const deltasPerTurn = 64;

interface StreamReaderOptions {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  /** While it returns a promise, nothing more is read from the provider, so that backpressure reaches its server. */
  readonly room?: () => Promise<void> | undefined;
}

/**
 * Reads a provider's stream. Ends at once when the signal is aborted, whatever the provider does, and never throws. An
 * answer of more than `maxBytes` is stopped before the event that exceeds the limit. Deltas are passed on
 * synchronously, mostly from the socket's callback; only the rare other events are awaited.
 */
export class ModelStreamReader implements Disposable {
  readonly #signal: AbortSignal;
  readonly #events: AsyncIterator<ModelEvent> | Failure;
  readonly #onDelta: (delta: Delta) => void;
  readonly #maxBytes: number;
  readonly #room: () => Promise<void> | undefined;
  #deltas = 0;
  #deltaBytes = 0;
  #itemBytes = 0;
  #waiting: Waiting | undefined;

  constructor(
    open: () => AsyncIterable<ModelEvent>,
    onDelta: (delta: Delta) => void,
    { signal, maxBytes, room = () => undefined }: StreamReaderOptions,
  ) {
    this.#signal = signal;
    this.#maxBytes = maxBytes;
    this.#onDelta = onDelta;
    this.#room = room;
    try {
      this.#events = open()[Symbol.asyncIterator]();
    } catch (error) {
      this.#events = providerBug(error);
    }
    signal.addEventListener("abort", this.#onAbort);
  }

  /** The bytes received so far. An item repeats its deltas, so the two are not added up. */
  get bytes(): number {
    return Math.max(this.#deltaBytes, this.#itemBytes);
  }

  /** The next event that is not a delta. */
  next(): Promise<Rest | Stop> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#signal.aborted) this.#onAbort();
      else this.#ask();
    });
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    // Not awaited: a stream that hangs must not block the turn.
    if ("next" in this.#events) void endStream(this.#events).catch(() => undefined);
  }

  readonly #ask = (): void => {
    const events = this.#events;
    try {
      if ("code" in events) this.#resolve({ type: "failed", failure: events });
      else if (events instanceof ReadyStream) this.#takeFrom(events);
      else events.next().then(this.#onResult, this.#onError);
    } catch (error) {
      this.#onError(error);
    }
  };

  /** The turn may have been aborted meanwhile. */
  readonly #askAgain = (): void => {
    if (this.#waiting !== undefined) this.#ask();
  };

  #takeFrom(events: ReadyStream<ModelEvent>): void {
    for (let event = events.take(); event !== undefined; event = events.take()) {
      if (!this.#receive(event)) return;
    }
    events.onReady(this.#ask);
  }

  // Created once: a new function for each event would cost as much as the event.
  readonly #onResult = (result: IteratorResult<ModelEvent>): void => {
    let isNextWanted: boolean;
    try {
      isNextWanted = this.#receive(isRecord(result) && result.done === true ? null : checked(result?.value));
    } catch (error) {
      return this.#onError(error);
    }
    if (isNextWanted) this.#ask();
  };
  readonly #onError = (error: unknown): void => this.#resolve({ type: "failed", failure: providerBug(error) });
  readonly #onAbort = (): void => this.#resolve("aborted");

  /** Returns whether to read the next event at once. */
  #receive(event: ModelEvent | null): boolean {
    if (this.#waiting === undefined) return false;
    if (event === null) this.#resolve({ type: "failed", failure: incompleteAnswer });
    else if (isDelta(event)) return this.#receiveDelta(event);
    else if (event.type === "buffered") return this.#fitsDelta(event.bytes) && this.#mayContinue();
    else if (event.type === "tool_call_start" && !this.#fitsDelta(itemOverheadBytes)) return false;
    else if (event.type === "item" && !this.#fitsItem(event.item)) this.#resolve("too_long");
    else this.#resolve(event);
    return false;
  }

  #receiveDelta(delta: Delta): boolean {
    if (!this.#fitsDelta(Buffer.byteLength(delta.delta))) return false;
    try {
      this.#onDelta(delta);
    } catch (error) {
      this.#waiting?.reject(error);
      this.#waiting = undefined;
      return false;
    }
    return this.#mayContinue();
  }

  #fitsDelta(bytes: number): boolean {
    this.#deltaBytes += bytes;
    if (this.#deltaBytes <= this.#maxBytes) return true;
    this.#resolve("too_long");
    return false;
  }

  #fitsItem(item: ResponseItem): boolean {
    this.#itemBytes += itemOverheadBytes + Buffer.byteLength(JSON.stringify(item));
    return this.#itemBytes <= this.#maxBytes;
  }

  #mayContinue(): boolean {
    this.#deltas += 1;
    const room = this.#room();
    if (room !== undefined) {
      void room.then(this.#askAgain);
      return false;
    }
    if (this.#deltas % deltasPerTurn !== 0) return true;
    setImmediate(this.#ask);
    return false;
  }

  #resolve(event: Rest | Stop): void {
    this.#waiting?.resolve(event);
    this.#waiting = undefined;
  }
}

/** An injected provider may return anything. Deltas are frequent, so they are checked without a schema. */
function checked(event: unknown): ModelEvent {
  if (!isRecord(event)) throw new TypeError("the stream had no events");
  return isFitDelta(event) ? event : check(ModelEvent, event, "the stream");
}

function isFitDelta(event: object): event is Delta {
  if (!("type" in event) || !isDelta(event)) return false;
  return "itemId" in event && typeof event.itemId === "string" && "delta" in event && typeof event.delta === "string";
}

function isDelta(event: { readonly type: unknown }): event is Delta {
  return event.type === "text_delta" || event.type === "reasoning_delta" || event.type === "tool_call_delta";
}

async function endStream(events: AsyncIterator<ModelEvent>): Promise<void> {
  await events.return?.();
}

/** Providers must not throw. One that does has a bug, and its caller fails with the error's message. */
export function providerBug(error: unknown): Failure {
  return { code: "unknown", message: errorMessage(error), retryable: false };
}
