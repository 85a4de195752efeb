import type { ModelEvent } from "../messages/model.js";
import { SaidEvents } from "./said-events.js";
import { defaultIdleMs, maxEventBytes } from "./stream-bounds.js";
import type { EventStream, ServerEvent } from "./transport.js";
import { type FailureContext, wireFailure } from "./wire-failure.js";
import type { WireConnection } from "./wire.js";

/** Makes our events of a wire API's; it lives as long as one answer. */
export interface WireDecoder {
  /** What an event says; nothing is asked after `done` or `failed`. May throw a `FailureError`. */
  decode(event: ServerEvent): readonly ModelEvent[];
  /** What remains to be said when the stream has ended without an error. */
  end(): readonly ModelEvent[];
}

export interface WireExchange {
  /** Sends the request; the signal is for this request alone. */
  send(apiKey: string | undefined, idleMs: number, signal: AbortSignal): Promise<Response>;
  decoder(context: FailureContext): WireDecoder;
}

/** One request and its answer, with the manners every wire API has: it does not throw, and an abort just ends it. */
export function wireAnswer(
  connection: WireConnection,
  exchange: WireExchange,
  signal: AbortSignal,
): AsyncIterableIterator<ModelEvent, undefined> {
  return new WireAnswer(connection, exchange, signal);
}

type Next = IteratorResult<ModelEvent, undefined>;

interface Opened {
  readonly events: EventStream;
  readonly decoder: WireDecoder;
}

const ended: Next = { done: true, value: undefined };

/** By hand, because every `await` on the way of a delta costs a share of it, and there are thousands a second. */
class WireAnswer implements AsyncIterableIterator<ModelEvent, undefined> {
  readonly #connection: WireConnection;
  readonly #exchange: WireExchange;
  readonly #signal: AbortSignal;
  // The SDKs leave a listener on the signal they get, and a turn's signal would gather them.
  readonly #own = new AbortController();
  readonly #onAbort = (): void => this.#own.abort();
  #apiKey: string | undefined;
  #opened: Opened | undefined;
  readonly #said = new SaidEvents();
  #isOver: boolean;
  /** Who waits for what comes next. */
  #waiting: ((next: Next) => void) | undefined;

  constructor(connection: WireConnection, exchange: WireExchange, signal: AbortSignal) {
    this.#connection = connection;
    this.#exchange = exchange;
    this.#signal = signal;
    this.#isOver = signal.aborted;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Next> {
    const next = this.#ready();
    if (next !== undefined) return Promise.resolve(next);
    return new Promise((resolve) => {
      this.#waiting = resolve;
      if (this.#opened !== undefined) this.#wait(this.#opened);
      else this.#open().then(this.#onOpened, this.#onBroken);
    });
  }

  async return(): Promise<Next> {
    this.#said.clear();
    this.#end();
    return ended;
  }

  /** What can be told without waiting. */
  #ready(): Next | undefined {
    if (this.#signal.aborted) {
      this.#said.clear();
      this.#end();
      return ended;
    }
    const value = this.#said.take();
    if (value !== undefined) return { done: false, value };
    return this.#isOver ? ended : undefined;
  }

  readonly #onOpened = (opened: Opened): void => {
    this.#opened = opened;
    this.#wait(opened);
  };

  #wait({ events }: Opened): void {
    events.next().then(this.#onEvent, this.#onBroken);
  }

  /** Decodes what is there, up to the last event of the answer; what was whole before a fault is told. */
  readonly #onEvent = (next: IteratorResult<ServerEvent, undefined>): void => {
    if (this.#opened !== undefined && !this.#isOver && !this.#signal.aborted) this.#decode(this.#opened, next);
    this.#tell();
  };

  readonly #onBroken = (error: unknown): void => {
    if (!this.#isOver && !this.#signal.aborted) this.#fail(error);
    this.#end();
    this.#tell();
  };

  /** Answers who waits, or goes on waiting: what came may say nothing. */
  #tell(): void {
    const next = this.#ready();
    if (next === undefined) {
      if (this.#opened !== undefined) this.#wait(this.#opened);
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(next);
  }

  async #open(): Promise<Opened> {
    const { provider, transport, idleMs = defaultIdleMs } = this.#connection;
    const { signal } = this.#own;
    this.#signal.addEventListener("abort", this.#onAbort);
    this.#apiKey = this.#connection.apiKey();
    const decoder = this.#exchange.decoder({ provider, apiKey: this.#apiKey });
    const response = await this.#exchange.send(this.#apiKey, idleMs, signal);
    return { decoder, events: transport.events(response, { signal, idleMs, maxEventBytes }) };
  }

  #decode({ events, decoder }: Opened, next: IteratorResult<ServerEvent, undefined>): void {
    try {
      if (next.done === true) this.#say(decoder.end());
      else
        for (let event: ServerEvent | undefined = next.value; event !== undefined; event = events.take()) {
          if (this.#say(decoder.decode(event))) break;
        }
    } catch (error) {
      this.#fail(error);
    }
    if (next.done === true) this.#end();
  }

  /** True when that was the last to be said. */
  #say(events: readonly ModelEvent[]): boolean {
    for (const event of events) {
      this.#said.add(event);
      if (event.type !== "done" && event.type !== "failed") continue;
      this.#end();
      return true;
    }
    return false;
  }

  #fail(error: unknown): void {
    const { provider } = this.#connection;
    this.#say([{ type: "failed", failure: wireFailure(error, { provider, apiKey: this.#apiKey }) }]);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    if (this.#opened === undefined) this.#own.abort();
    else void this.#opened.events.return();
  }
}
