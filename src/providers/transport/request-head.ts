import type { WireApi } from "../../messages/settings/config.js";
import type { ModelEvent, ModelRequest } from "../../messages/model.js";
import { type Credential, secretOf, type Access } from "../credential.js";
import type { RequestHead, Transport } from "./transport.js";

/** The part of the interface that both SDKs' clients share. */
interface Client {
  buildRequest(options: {
    method: "post";
    path: string;
    body: object;
    stream: true;
  }): Promise<{ url: string; req: { headers?: Headers } }>;
}

type MakeClient = (connection: WireConnection, credential: Credential | undefined, timeout: number) => Promise<Client>;
export type MakeHead = (
  connection: WireConnection,
  credential: Credential | undefined,
  timeout: number,
) => Promise<RequestHead>;

interface CachedHead {
  readonly secret: string | undefined;
  readonly timeout: number;
  /** Shared while it is being built, because a thousand turns may begin before the first head is ready. */
  readonly head: Promise<RequestHead>;
}

/**
 * Caches the head that the SDK builds until the credential changes. Building it for each request, with the rest of the
 * SDK's work before `fetch`, would take longer than everything else before the request is sent.
 */
export function cachedHead(path: string, makeClient: MakeClient): MakeHead {
  const cache = new WeakMap<WireConnection, CachedHead>();
  const build: MakeHead = async (connection, credential, timeout) => {
    const client = await makeClient(connection, credential, timeout);
    const { url, req } = await client.buildRequest({ method: "post", path, body: {}, stream: true });
    return { url: new URL(url), headers: Object.fromEntries(req.headers ?? []) };
  };
  return (connection, credential, timeout) => {
    const secret = secretOf(credential);
    const known = cache.get(connection);
    if (known !== undefined && known.secret === secret && known.timeout === timeout) return known.head;
    const head = build(connection, credential, timeout);
    cache.set(connection, { secret, timeout, head });
    // The next request tries again.
    head.catch(() => cache.get(connection)?.head === head && cache.delete(connection));
    return head;
  };
}

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
  onRateLimitPause?(ms: number): void;
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
