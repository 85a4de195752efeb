import { type Credential, secretOf } from "./credential.js";
import type { WireConnection } from "./wire.js";

type MakeClient<C> = (connection: WireConnection, credential: Credential | undefined, timeout: number) => Promise<C>;

/** Keeps the client of a connection until its key or token changes: one for each request would cost a tenth of the request. */
export function keptClient<C>(make: MakeClient<C>): MakeClient<C> {
  const kept = new WeakMap<WireConnection, { secret: string | undefined; timeout: number; client: C }>();
  return async (connection, credential, timeout) => {
    const secret = secretOf(credential);
    const known = kept.get(connection);
    if (known !== undefined && known.secret === secret && known.timeout === timeout) return known.client;
    const client = await make(connection, credential, timeout);
    kept.set(connection, { secret, timeout, client });
    return client;
  };
}
