import type { ReadyStream } from "./ready-stream.js";

/** One event of a server-sent stream. */
export interface ServerEvent {
  /** The `event:` field; empty when there was none. */
  readonly event: string;
  readonly data: string;
}

export interface StreamBounds {
  readonly signal: AbortSignal;
  /** Without an event for so long the stream counts as stalled; comments and pings are no events. */
  readonly idleMs: number;
  /** A longer event is refused. */
  readonly maxEventBytes: number;
}

/** How requests leave the process. */
export interface Transport {
  /** For the SDKs. */
  readonly fetch: typeof fetch;
  /** The events of an answer this transport has fetched; throws a `FailureError` when it breaks, stalls or floods. */
  events(response: Response, bounds: StreamBounds): ReadyStream<ServerEvent>;
  /** Lets go of the connections it keeps; nothing may be fetched any more. */
  close(): void;
}
