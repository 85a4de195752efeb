import type { Readable } from "node:stream";
import type { ReadyStream } from "./ready-stream.js";

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
  /** For requests with short answers that do not go to a model, such as a login. */
  readonly fetch: typeof fetch;
  /**
   * Sends a request to a model. The body is built when it is sent, and again if it is sent again: kept until the
   * response begins, it would be promoted to the old generation by the garbage collector.
   */
  post(head: RequestHead, body: () => string | Uint8Array): PostedRequest;
  /** The events of a response. Throws a `FailureError` if it has none, breaks off, stalls or exceeds the bounds. */
  events(answer: PendingResponse, bounds: StreamBounds): ReadyStream<ServerEvent>;
  /** Closes idle connections; the transport must not be used afterwards. */
  close(): void;
}

/** The URL and headers of a request: the same for all requests of a connection. */
export interface RequestHead {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}
