import type { Failure } from "../messages/failure.js";
import type { ModelEvent } from "../messages/model.js";
import { defaultIdleMs, maxEventBytes } from "./stream-bounds.js";
import type { ServerEvent } from "./transport.js";
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

export const cutAnswer: Failure = {
  code: "network",
  message: "the answer ended before it was complete",
  retryable: true,
};

/** One request and its answer, with the manners every wire API has: it does not throw, and an abort just ends it. */
export async function* wireAnswer(
  connection: WireConnection,
  exchange: WireExchange,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  if (signal.aborted) return;
  const { provider, transport, idleMs = defaultIdleMs } = connection;
  let apiKey: string | undefined;
  // The SDKs leave a listener on the signal they get, and a turn's signal would gather them.
  const own = new AbortController();
  const abort = (): void => own.abort();
  signal.addEventListener("abort", abort);
  try {
    apiKey = connection.apiKey();
    const decoder = exchange.decoder({ provider, apiKey });
    const response = await exchange.send(apiKey, idleMs, own.signal);
    for await (const event of transport.events(response, { signal: own.signal, idleMs, maxEventBytes })) {
      for (const said of decoder.decode(event)) {
        yield said;
        if (said.type === "done" || said.type === "failed") return;
      }
    }
    if (signal.aborted) return;
    for (const said of decoder.end()) yield said;
  } catch (error) {
    if (!signal.aborted) yield { type: "failed", failure: wireFailure(error, { provider, apiKey }) };
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
