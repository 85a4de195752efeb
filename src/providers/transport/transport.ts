import type { Readable } from "node:stream";

export const endOfStream: IteratorResult<never, undefined> = { done: true, value: undefined };

/** The same as in Codex: a model that is thinking may be silent for minutes. */
export const defaultIdleMs = 300_000;

export const maxEventBytes = 8 * 1024 * 1024;

/**
 * The maximum size of consecutive events without content: those of unknown types, and those that repeat the request or
 * finished text.
 */
export const maxIgnoredBytes = 64 * 1024 * 1024;

/** The maximum size of an error response. */
export const maxErrorBytes = 64 * 1024;

/** Counted for each item besides its text, because even a short item costs rollout lines and events. */
export const itemOverheadBytes = 512;

/** An event of a server-sent event stream. */
export interface ServerEvent {
  /** The `event:` field; empty if there was none. */
  readonly event: string;
  readonly data: string;
}

export interface StreamBounds {
  /** A stream without an event for this long counts as stalled; comments and pings are not events. */
  readonly idleMs: number;
  /** Longer events are rejected. */
  readonly maxEventBytes: number;
}

/** By lower-case names. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A response whose body has not been read yet. */
export interface PendingResponse {
  readonly headers: AnswerHeaders;
  readonly body: Readable;
}

/** A request in flight. */
export interface PostedRequest {
  /** Rejects with an `AnswerError` if the server responds with an error. */
  readonly answer: Promise<PendingResponse>;
  /**
   * Cancels the request and its response. Not an AbortSignal, because one for each of a thousand turns would cost as
   * much as the request.
   */
  cancel(reason: Error): void;
}

/** Sends requests from this process. */
export interface Transport {
  /**
   * Sends a POST request. The body is built when it is sent, and again if it is sent again: kept until the
   * response begins, it would be promoted to the old generation by the garbage collector.
   */
  post(head: RequestHead, body: () => RequestContent): PostedRequest;
  /** The events of a response. Throws a `FailureError` if it has none, breaks off, stalls or exceeds the bounds. */
  events(answer: PendingResponse, bounds: StreamBounds): ReadyStream<ServerEvent>;
  /** Closes idle connections; the transport must not be used afterwards. */
  close(): void;
}

/**
 * The content of a request, in pieces that are sent one after another. Bytes, because the socket would encode a string
 * again after its length was computed.
 */
export type RequestContent = readonly Uint8Array[];

/** The URL and headers of a request: the same for all requests of a connection. */
export interface RequestHead {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A stream whose events can be read without a promise for each: with a thousand small events a second, the promises
 * would cost more than the events. A reader either awaits `next`, or calls `take` and then `onReady`.
 */
export abstract class ReadyStream<E> implements AsyncIterableIterator<E, undefined> {
  /** The next event if it is available, null after the last one. Throws once where `next` would reject. */
  abstract take(): E | null | undefined;

  /** Called after `take` returned undefined: calls back once, when `take` may return something. */
  abstract onReady(callback: () => void): void;

  abstract return(): Promise<IteratorResult<E, undefined>>;

  next(): Promise<IteratorResult<E, undefined>> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        try {
          const value = this.take();
          if (value === undefined) this.onReady(look);
          else resolve(value === null ? endOfStream : { done: false, value });
        } catch (error) {
          reject(error);
        }
      };
      look();
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
