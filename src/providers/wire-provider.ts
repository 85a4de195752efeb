import type { WireApi } from "../messages/settings/config.js";
import type { ModelEvent, ModelRequest } from "../messages/model.js";
import type { Provider } from "./provider.js";
import type { Transport } from "./transport/transport.js";
import type { WireConnection, WireStream } from "./transport/request-head.js";

/** A connection whose transport is created on first use. */
interface LazyConnection extends Omit<WireConnection, "transport"> {
  transport(): Promise<Transport>;
}

/** Each one loads its vendor's SDK, so a process imports only those it uses. */
const streams: Readonly<Record<WireApi, () => Promise<WireStream>>> = {
  responses: async () => (await import("./responses/stream.js")).openaiResponses,
  chat: async () => (await import("./chat/stream.js")).openaiChat,
  messages: async () => (await import("./messages/stream.js")).anthropicMessages,
};

/** A model behind a wire API. */
export function wireProvider(lazy: LazyConnection): Provider {
  let open: Provider["stream"] | undefined;

  async function load(): Promise<Provider["stream"]> {
    const [stream, transport] = await Promise.all([streams[lazy.api](), lazy.transport()]);
    const connection: WireConnection = { ...lazy, transport };
    return (request, signal) => stream(connection, request, signal);
  }

  async function* first(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    open ??= await load();
    if (!signal.aborted) yield* open(request, signal);
  }

  // Later calls return the API's own stream: another generator around it would slow down every delta.
  return { name: lazy.provider, stream: (request, signal) => (open ?? first)(request, signal) };
}
