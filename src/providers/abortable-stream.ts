import type { Failure } from "../messages/failure.js";
import type { ModelEvent } from "../messages/model.js";
import { cutAnswer } from "./cut-answer.js";
import { isRecord } from "./json-fields.js";

const eventsPerTurn = 64;

/** A provider's stream that ends at once when the signal says so, whatever the provider does, and never throws. */
export class AbortableStream implements Disposable {
  readonly #signal: AbortSignal;
  readonly #events: AsyncIterator<ModelEvent> | Failure;
  #count = 0;
  #tell: ((event: ModelEvent | "aborted") => void) | undefined;
  // Made once: a function for each event would cost as much as the event.
  readonly #onAbort = (): void => this.#tell?.("aborted");
  readonly #onResult = (result: IteratorResult<ModelEvent>): void => {
    if (!isRecord(result)) this.#onError(new TypeError("the stream gave no result"));
    else this.#tell?.(result.done === true ? { type: "failed", failure: cutAnswer } : result.value);
  };
  readonly #onError = (error: unknown): void => this.#tell?.({ type: "failed", failure: broken(error) });

  constructor(open: () => AsyncIterable<ModelEvent>, signal: AbortSignal) {
    this.#signal = signal;
    try {
      this.#events = open()[Symbol.asyncIterator]();
    } catch (error) {
      this.#events = broken(error);
    }
    signal.addEventListener("abort", this.#onAbort);
  }

  next(): Promise<ModelEvent | "aborted"> {
    this.#count += 1;
    return new Promise((resolve) => {
      this.#tell = resolve;
      // A model in this process may always be ready; sockets, timers and interrupts must have their turn.
      if (this.#count % eventsPerTurn === 0) setImmediate(() => this.#ask());
      else this.#ask();
    });
  }

  #ask(): void {
    if (this.#signal.aborted) return this.#onAbort();
    if ("code" in this.#events) return this.#tell?.({ type: "failed", failure: this.#events });
    try {
      this.#events.next().then(this.#onResult, this.#onError);
    } catch (error) {
      this.#onError(error);
    }
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    // Not awaited: a stream that hangs must not hold the turn.
    if ("next" in this.#events) void letGo(this.#events).catch(() => undefined);
  }
}

async function letGo(events: AsyncIterator<ModelEvent>): Promise<void> {
  await events.return?.();
}

/** Providers do not throw; one that does has a bug, and whoever asked it fails with the reason. */
export function broken(error: unknown): Failure {
  return { code: "internal", message: error instanceof Error ? error.message : String(error), retryable: false };
}
