import type { WireApi } from "../messages/config.js";
import type { ModelEvent, ModelRequest } from "../messages/model.js";
import type { Access } from "./credential.js";
import type { Transport } from "./transport/transport.js";

/** How a provider is reached. */
export interface WireConnection extends Access {
  /** The provider's name, for messages to people. */
  readonly provider: string;
  readonly api: WireApi;
  /** Undefined: the vendor's own address. */
  readonly baseUrl: string | undefined;
  readonly transport: Transport;
  /** So long may an answer be silent; as long as a thinking model needs when it is not given. */
  readonly idleMs?: number;
  /** Told of how long the provider wants to be left alone, as the headers of its answers say. */
  onRest?(ms: number): void;
  /** Takes secrets out of what a server says about an error. */
  readonly redact?: (text: string) => string;
}

/**
 * One wire API: history in our shape goes out in its shape, its events come back as ours. Never throws once started;
 * the last event is `done` or `failed`, and when the signal is aborted it ends without either.
 */
export type WireStream = (
  connection: WireConnection,
  request: ModelRequest,
  signal: AbortSignal,
) => AsyncIterable<ModelEvent>;
