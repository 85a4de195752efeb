import type { ModelEvent, ModelRequest } from "../messages/model.js";

/**
 * Turns a request into a model's stream. Once started the stream does not throw: its last event is `done` or `failed`,
 * and when the signal is aborted it ends without either.
 */
export interface Provider {
  readonly name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
