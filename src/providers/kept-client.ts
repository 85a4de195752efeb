import type { WireConnection } from "./wire.js";

type MakeClient<C> = (connection: WireConnection, apiKey: string | undefined, timeout: number) => Promise<C>;

/** Keeps the client of a connection until its key changes: one for each request would cost a tenth of the request. */
export function keptClient<C>(make: MakeClient<C>): MakeClient<C> {
  const kept = new WeakMap<WireConnection, { apiKey: string | undefined; timeout: number; client: C }>();
  return async (connection, apiKey, timeout) => {
    const known = kept.get(connection);
    if (known !== undefined && known.apiKey === apiKey && known.timeout === timeout) return known.client;
    const client = await make(connection, apiKey, timeout);
    kept.set(connection, { apiKey, timeout, client });
    return client;
  };
}
