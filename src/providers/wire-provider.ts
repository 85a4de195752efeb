import type { WireApi } from "../messages/settings/config.js";
import type { ModelEvent, ModelRequest } from "../messages/model.js";
import type { Provider } from "./provider.js";
import { defaultIdleMs, type Transport } from "./transport/transport.js";
import type { MakeHead, WireConnection, WireStream } from "./transport/request-head.js";

/** A connection whose transport is created on first use. */
interface LazyConnection extends Omit<WireConnection, "transport"> {
  transport(): Promise<Transport>;
}

/** Each one loads its vendor's SDK, so a process imports only those it uses. */
const apis: Readonly<Record<WireApi, () => Promise<{ readonly stream: WireStream; readonly head: MakeHead }>>> = {
  responses: async () => {
    const { openaiResponses: stream, head } = await import("./responses/stream.js");
    return { stream, head };
  },
  chat: async () => {
    const { openaiChat: stream, head } = await import("./chat/stream.js");
    return { stream, head };
  },
  messages: async () => {
    const { anthropicMessages: stream, head } = await import("./messages/stream.js");
    return { stream, head };
  },
};

/** Loads the code of an API and its SDK, by building the head of a request that is not sent. */
export async function loadWireApi(api: WireApi, transport: Transport): Promise<void> {
  const { head } = await apis[api]();
  const connection = { provider: api, api, baseUrl: undefined, transport, credential: () => undefined };
  await head(connection, undefined, defaultIdleMs);
}

/** A model behind a wire API. */
export function wireProvider(lazy: LazyConnection): Provider {
  let open: Provider["stream"] | undefined;

  async function load(): Promise<Provider["stream"]> {
    const [{ stream }, transport] = await Promise.all([apis[lazy.api](), lazy.transport()]);
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
