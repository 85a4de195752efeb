import type { WireApi } from "../messages/config.js";
import type { ModelEvent, ModelRequest } from "../messages/model.js";
import type { Access } from "./credential.js";
import type { Transport } from "./transport/transport.js";

/** The connection to a provider. */
export interface WireConnection extends Access {
  /** The provider's name, for messages to people. */
  readonly provider: string;
  readonly api: WireApi;
  /** Undefined: the vendor's default address. */
  readonly baseUrl: string | undefined;
  readonly transport: Transport;
  /** How long an answer may be silent; the default allows for a model that is thinking. */
  readonly idleMs?: number;
  /** Called with the time to wait that the rate limit headers of an answer ask for. */
  onRest?(ms: number): void;
  /** Removes secrets from a server's error message. */
  readonly redact?: (text: string) => string;
}

/**
 * Implements one wire API: sends our history in its format and returns its events as ours. Never throws once started;
 * the last event is `done` or `failed`, and when the signal is aborted it ends without either.
 */
export type WireStream = (
  connection: WireConnection,
  request: ModelRequest,
  signal: AbortSignal,
) => AsyncIterable<ModelEvent>;
