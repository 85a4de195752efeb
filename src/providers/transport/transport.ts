import type { Readable } from "node:stream";
import type { ReadyStream } from "./ready-stream.js";

/** One event of a server-sent stream. */
export interface ServerEvent {
  /** The `event:` field; empty when there was none. */
  readonly event: string;
  readonly data: string;
}

export interface StreamBounds {
  /** Without an event for so long the stream counts as stalled; comments and pings are no events. */
  readonly idleMs: number;
  /** A longer event is refused. */
  readonly maxEventBytes: number;
}

/** By names in small letters. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** An answer whose body has yet to come. */
export interface Answer {
  readonly headers: AnswerHeaders;
  readonly body: Readable;
}

/** A request that is under way. */
export interface Posted {
  /** Rejects with an `AnswerError` when the server answers with an error. */
  readonly answer: Promise<Answer>;
  /** Ends it, and the answer while it comes. No signal: one for each of a thousand turns costs as much as a request. */
  cancel(reason: Error): void;
}

/** How requests leave the process. */
export interface Transport {
  /** For what has a short answer and is no model, such as a login. */
  readonly fetch: typeof fetch;
  /**
   * Asks a model. The body is made when it is sent, and again should it be sent again: kept until the answer begins, it
   * would outlive a young collection.
   */
  post(head: RequestHead, body: () => string | Uint8Array): Posted;
  /** The events of an answer; throws a `FailureError` when it has none, breaks, stalls or floods. */
  events(answer: Answer, bounds: StreamBounds): ReadyStream<ServerEvent>;
  /** Lets go of the connections it keeps; nothing may be fetched any more. */
  close(): void;
}

/** Where a request goes and what stands above its body: the same for all requests of a connection. */
export interface RequestHead {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}
