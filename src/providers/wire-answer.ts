import { FailureError } from "../messages/failure-error.js";
import type { Failure } from "../messages/failure.js";
import type { ModelEvent } from "../messages/model.js";
import { type Credential, secretOf, sentWithCredential } from "./credential.js";
import { rateLimitWaitMs, type FailureContext, wireFailure } from "./failures/wire-failure.js";
import { requestChunks, type StartFields } from "./request-chunks.js";
import {
  endOfStream,
  ReadyStream,
  defaultIdleMs,
  maxEventBytes,
  maxIgnoredBytes,
  type PendingResponse,
  type PostedRequest,
  type ServerEvent,
} from "./transport/transport.js";
import type { MakeHead, WireConnection } from "./transport/request-head.js";

/** Smaller amounts are not reported as an event. */
const stepBytes = 4_096;

const nothing: readonly ModelEvent[] = [];

/** Converts the events of a wire API to ours; one instance per answer. */
export interface WireDecoder {
  /** Decodes an event; not called after `done` or `failed`. May throw a `FailureError`. */
  decode(event: ServerEvent): readonly ModelEvent[];
  /** The remaining events when the stream has ended without an error. */
  end(): readonly ModelEvent[];
}

interface WireExchange {
  readonly head: MakeHead;
  body(): StartFields;
  decoder(context: FailureContext): WireDecoder;
}

/**
 * Sends one request and reads its answer. As with every wire API, the stream does not throw, and an abort just ends it.
 */
export function wireAnswer(
  connection: WireConnection,
  exchange: WireExchange,
  signal: AbortSignal,
): ReadyStream<ModelEvent> {
  return new WireAnswer(connection, exchange, signal);
}

interface Opened {
  readonly events: ReadyStream<ServerEvent>;
  readonly decoder: WireDecoder;
}

class WireAnswer extends ReadyStream<ModelEvent> {
  readonly #connection: WireConnection;
  readonly #exchange: WireExchange;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => {
    this.#buffer.clear();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#posted?.cancel(abandoned());
  };
  #apiKey: string | undefined;
  #posted: PostedRequest | undefined;
  #opened: Opened | undefined;
  readonly #buffer = new EventBuffer();
  /** The size of the events since the last one with content. */
  #ignoredBytes = 0;
  #isOver: boolean;

  constructor(connection: WireConnection, exchange: WireExchange, signal: AbortSignal) {
    super();
    this.#connection = connection;
    this.#exchange = exchange;
    this.#signal = signal;
    this.#isOver = signal.aborted;
  }

  take(): ModelEvent | null | undefined {
    // While the answer is being received, the abort listener handles this.
    if ((this.#isOver || this.#opened === undefined) && this.#signal.aborted) this.#onAbort();
    if (this.#buffer.isEmpty && this.#opened !== undefined && !this.#isOver) this.#decode(this.#opened);
    return this.#buffer.take() ?? (this.#isOver ? null : undefined);
  }

  onReady(callback: () => void): void {
    if (this.#opened !== undefined) return this.#opened.events.onReady(callback);
    const onOpened = (opened: Opened): void => {
      this.#opened = opened;
      callback();
    };
    const onBroken = (error: unknown): void => {
      if (!this.#isOver) this.#fail(error);
      callback();
    };
    this.#open().then(onOpened, onBroken);
  }

  async return(): Promise<IteratorResult<ModelEvent, undefined>> {
    this.#buffer.clear();
    this.#end();
    return endOfStream;
  }

  async #open(): Promise<Opened> {
    const { transport, idleMs = defaultIdleMs } = this.#connection;
    this.#signal.addEventListener("abort", this.#onAbort);
    const send = (credential: Credential | undefined): Promise<PendingResponse> => this.#send(credential, idleMs);
    const answer = await sentWithCredential(this.#connection, send, this.#signal);
    const decoder = this.#exchange.decoder(this.#context());
    const rest = rateLimitWaitMs(answer.headers, Date.now());
    if (rest !== undefined) this.#connection.onRateLimitPause?.(rest);
    return { decoder, events: transport.events(answer, { idleMs, maxEventBytes }) };
  }

  async #send(credential: Credential | undefined, idleMs: number): Promise<PendingResponse> {
    this.#apiKey = secretOf(credential);
    const head = await this.#exchange.head(this.#connection, credential, idleMs);
    if (this.#isOver) throw abandoned();
    const posted = this.#connection.transport.post(head, () => requestChunks(this.#exchange.body()));
    this.#posted = posted;
    let late: FailureError | undefined;
    const timer = setTimeout(() => posted.cancel((late = new FailureError(noAnswer))), idleMs);
    try {
      return await posted.answer;
    } catch (error) {
      // The cancelled request may reject with a different error.
      throw late ?? error;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Decodes the events received so far, up to the last of the answer. Events that were complete before a failure are
   * kept.
   */
  #decode({ events, decoder }: Opened): void {
    try {
      for (let event = events.take(); event !== undefined; event = events.take()) {
        const decoded = event === null ? decoder.end() : decoder.decode(event);
        if (this.#push(decoded)) return;
        if (event === null) return this.#end();
        this.#countIgnored(event, decoded);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A server that never sends content, and never ends, must not keep the turn busy until its time is over. */
  #countIgnored({ data }: ServerEvent, decoded: readonly ModelEvent[]): void {
    this.#ignoredBytes = decoded.every(isEmptyDelta) ? this.#ignoredBytes + data.length : 0;
    if (this.#ignoredBytes > maxIgnoredBytes) throw new FailureError(noContent);
  }

  /** Returns true if that was the last event of the answer. */
  #push(events: readonly ModelEvent[]): boolean {
    for (const event of events) {
      this.#buffer.add(event);
      if (event.type !== "done" && event.type !== "failed") continue;
      this.#end();
      return true;
    }
    return false;
  }

  #fail(error: unknown): void {
    this.#push([{ type: "failed", failure: wireFailure(error, this.#context()) }]);
  }

  #context(): FailureContext {
    const { provider, redact, origin } = this.#connection;
    return { provider, apiKey: this.#apiKey, redact, origin };
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    if (this.#opened === undefined) this.#posted?.cancel(abandoned());
    else void this.#opened.events.return();
  }
}

/** Created anew each time: an error keeps its stack in memory, and with it the key of the first request. */
const abandoned = (): Error => new Error("the request was cancelled");
const noContent: Failure = {
  code: "bad_message",
  message: `the server sent ${maxIgnoredBytes} bytes in a row that are not part of an answer`,
  retryable: false,
};
const noAnswer: Failure = { code: "timeout", message: "no answer came in time", retryable: true };

type Delta = Extract<ModelEvent, { type: "text_delta" | "reasoning_delta" | "tool_call_delta" }>;

function isEmptyDelta(event: ModelEvent): boolean {
  return "delta" in event && event.delta === "";
}

/**
 * Buffers the events of an answer until they are read. Consecutive deltas of one item are merged, because no reader
 * could tell them apart and a hundred events cost a hundred times as much.
 */
export class EventBuffer {
  #events: ModelEvent[] = [];
  #taken = 0;
  /** The last event, if it is a delta. */
  #delta: Delta | undefined;
  /** The texts merged into that delta, if there are several. */
  #pieces: string[] | undefined;

  get isEmpty(): boolean {
    return this.#taken === this.#events.length;
  }

  add(event: ModelEvent): void {
    if (event.type === "text_delta" || event.type === "reasoning_delta" || event.type === "tool_call_delta") {
      return this.#addDelta(event);
    }
    this.#closeDelta();
    this.#push(event);
  }

  take(): ModelEvent | undefined {
    this.#closeDelta();
    const event = this.#events[this.#taken];
    if (event !== undefined) this.#taken += 1;
    return event;
  }

  clear(): void {
    this.#events = [];
    this.#taken = 0;
    this.#delta = undefined;
    this.#pieces = undefined;
  }

  /** Makes a new array, because one that was emptied would reserve room for many events, and there is mostly one. */
  #push(event: ModelEvent): void {
    if (!this.isEmpty) return void this.#events.push(event);
    this.#events = [event];
    this.#taken = 0;
  }

  #addDelta(event: Delta): void {
    if (event.type === this.#delta?.type && event.itemId === this.#delta.itemId) {
      this.#pieces ??= [this.#delta.delta];
      this.#pieces.push(event.delta);
      return;
    }
    this.#closeDelta();
    this.#delta = event;
    this.#push(event);
  }

  /** Joins once at the end: a string built by concatenation keeps every piece in memory as long as it lives. */
  #closeDelta(): void {
    if (this.#delta !== undefined && this.#pieces !== undefined) {
      this.#events[this.#events.length - 1] = { ...this.#delta, delta: this.#pieces.join("") };
      this.#pieces = undefined;
    }
    this.#delta = undefined;
  }
}

/**
 * Counts bytes that a decoder buffers until an item is complete and that no delta event shows, such as a call's
 * arguments.
 */
export class BufferedBytes {
  #unreported = 0;

  /** Returns the event that reports the bytes, once there are enough of them. */
  add(bytes: number): readonly ModelEvent[] {
    this.#unreported += bytes;
    if (this.#unreported < stepBytes) return nothing;
    const event: ModelEvent = { type: "buffered", bytes: this.#unreported };
    this.#unreported = 0;
    return [event];
  }
}
