import { type Credential, secretOf } from "../credential.js";
import type { WireConnection } from "../wire.js";
import type { RequestHead } from "./transport.js";

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
  readonly head: RequestHead;
}

/**
 * Caches the head that the SDK builds until the credential changes. Building it for each request, with the rest of the
 * SDK's work before `fetch`, would take longer than everything else before the request is sent.
 */
export function cachedHead(path: string, makeClient: MakeClient): MakeHead {
  const kept = new WeakMap<WireConnection, CachedHead>();
  return async (connection, credential, timeout) => {
    const secret = secretOf(credential);
    const known = kept.get(connection);
    if (known !== undefined && known.secret === secret && known.timeout === timeout) return known.head;
    const client = await makeClient(connection, credential, timeout);
    const { url, req } = await client.buildRequest({ method: "post", path, body: {}, stream: true });
    const head: RequestHead = { url: new URL(url), headers: Object.fromEntries(req.headers ?? []) };
    kept.set(connection, { secret, timeout, head });
    return head;
  };
}
