import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { createParser, type EventSourceParser } from "eventsource-parser";
import type { Failure } from "../../messages/failure.js";
import { FailureError } from "../../messages/failure-error.js";
import { endOfStream, ReadyStream, type ServerEvent, type StreamBounds } from "./transport.js";

/** The source is paused while more than this is waiting to be read. */
const maxWaitingChars = 64 * 1024;
/** The rest of an abandoned stream is drained up to this limit, so that its connection can be reused. */
const maxRestBytes = 64 * 1024;
const maxRestMs = 250;

/**
 * Reads the events of a byte stream. Uses callbacks, because a web stream or an async generator between the socket and
 * the decoder would cost more than the parsing.
 */
export class EventReader extends ReadyStream<ServerEvent> {
  readonly #source: Readable;
  readonly #bounds: StreamBounds;
  readonly #parser: EventSourceParser;
  // Not `setEncoding`: it would join and copy the data that is already buffered in the stream.
  readonly #decoder = new StringDecoder("utf8");
  #events: ServerEvent[] = [];
  #timer: NodeJS.Timeout;
  #read = 0;
  #waitingChars = 0;
  #hasStarted = false;
  #endsInCr = false;
  #finish: Failure | "ended" | undefined;
  /** Called when the next event is available. */
  #waiting: (() => void) | undefined;
  /** The time when the reader began to wait for the next event. */
  #waitsSince = 0;

  constructor(source: Readable, bounds: StreamBounds) {
    super();
    this.#source = source;
    this.#bounds = bounds;
    this.#parser = createParser({
      maxBufferSize: bounds.maxEventBytes,
      onEvent: ({ event, data }) => {
        // Pings show that a server is alive, but do not count as an answer.
        if (data === "" || event === "ping") return;
        this.#add({ event: event ?? "", data });
      },
      onError: ({ type }) => {
        if (type === "max-buffer-size-exceeded") this.#close(tooLong(bounds.maxEventBytes));
      },
    });
    this.#timer = setTimeout(this.#onTimer, bounds.idleMs);
    source.on("error", this.#onError).on("end", this.#onEnd).on("close", this.#onClose).on("data", this.#onData);
    // The source failed before the listeners were attached.
    if (source.destroyed && !source.readableEnded) this.#close(cut);
  }

  take(): ServerEvent | null | undefined {
    const event = this.#events[this.#read];
    if (event === undefined) return this.#last();
    this.#read += 1;
    return event;
  }

  onReady(callback: () => void): void {
    this.#waitsSince = performance.now();
    this.#drop();
    this.#waiting = callback;
    if (this.#source.isPaused()) this.#source.resume();
  }

  return(): Promise<IteratorResult<ServerEvent, undefined>> {
    this.#drop();
    if (this.#finish === undefined) {
      this.#close("ended");
      drain(this.#source);
    }
    return Promise.resolve(endOfStream);
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#parse(this.#decoder.write(bytes));
    if (this.#finish !== undefined) return;
    if (this.#waitingChars > maxWaitingChars) this.#source.pause();
    if (this.#events.length > this.#read) this.#notify();
  };

  /**
   * Makes a new array, because one that was emptied would reserve room for many events, and mostly one arrives at a
   * time.
   */
  #add(event: ServerEvent): void {
    this.#waitingChars += event.data.length;
    if (this.#events.length > 0) this.#events.push(event);
    else this.#events = [event];
  }

  #parse(text: string): void {
    // The parser recognizes a byte order mark only as bytes.
    const chunk = this.#hasStarted || !text.startsWith("\ufeff") ? text : text.slice(1);
    this.#hasStarted ||= text !== "";
    if (text !== "") this.#endsInCr = text.endsWith("\r");
    this.#parser.feed(chunk);
  }

  readonly #onEnd = (): void => {
    // A carriage return ends a line by itself, but the parser waits to see whether a line feed follows.
    if (this.#endsInCr) this.#parse("\n");
    this.#close("ended");
  };
  readonly #onClose = (): void => this.#close(cut);
  readonly #onError = (): void => this.#close(lost);

  /** Checks for a stalled stream; time during which the reader itself was busy does not count. */
  readonly #onTimer = (): void => {
    const waited = this.#waiting === undefined ? 0 : performance.now() - this.#waitsSince;
    const rest = this.#bounds.idleMs - waited;
    if (rest < 1) this.#close(silent(this.#bounds.idleMs));
    else this.#timer = setTimeout(this.#onTimer, rest);
  };

  /** Events received before the end are still read; a failure is reported once, after them. */
  #close(finish: Failure | "ended"): void {
    if (this.#finish !== undefined) return;
    this.#finish = finish;
    clearTimeout(this.#timer);
    this.#source.off("data", this.#onData);
    if (finish !== "ended") this.#source.destroy();
    this.#notify();
  }

  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }

  #last(): null | undefined {
    const finish = this.#finish;
    if (finish === undefined) return undefined;
    this.#finish = "ended";
    if (finish === "ended") return null;
    throw new FailureError(finish);
  }

  #drop(): void {
    this.#events = [];
    this.#read = 0;
    this.#waitingChars = 0;
  }
}

function drain(source: Readable): void {
  let length = 0;
  const timer = setTimeout(() => source.destroy(), maxRestMs).unref();
  source.on("data", (bytes: Buffer) => {
    length += bytes.length;
    if (length > maxRestBytes) source.destroy();
  });
  source.once("close", () => clearTimeout(timer));
  source.resume();
}

const cut: Failure = { code: "network", message: "the answer ended before it was complete", retryable: true };
const lost: Failure = { code: "network", message: "the connection was lost during the answer", retryable: true };

function silent(idleMs: number): Failure {
  return { code: "timeout", message: `no data received for ${Math.round(idleMs / 100) / 10} s`, retryable: true };
}

function tooLong(bytes: number): Failure {
  return { code: "bad_message", message: `an event is longer than ${bytes} bytes`, retryable: false };
}
