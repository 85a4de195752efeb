import { type Credential, secretOf } from "../credential.js";
import type { WireConnection } from "../wire.js";
import type { RequestHead } from "./transport.js";

/** What both SDKs' clients can do. */
interface Client {
  buildRequest(options: {
    method: "post";
    path: string;
    body: object;
    stream: true;
  }): Promise<{ url: string; req: { headers?: Headers } }>;
}

type MakeClient = (connection: WireConnection, credential: Credential | undefined, timeout: number) => Promise<Client>;
export type HeadOf = (
  connection: WireConnection,
  credential: Credential | undefined,
  timeout: number,
) => Promise<RequestHead>;

interface Kept {
  readonly secret: string | undefined;
  readonly timeout: number;
  readonly head: RequestHead;
}

/**
 * The head as the SDK makes it, kept until the key or token changes: made for each request, it and the rest of the
 * SDK's way to `fetch` would take longer than everything else that happens until the request has left.
 */
export function keptHead(path: string, makeClient: MakeClient): HeadOf {
  const kept = new WeakMap<WireConnection, Kept>();
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
