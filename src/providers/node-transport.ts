import { Readable } from "node:stream";
import { FailureError } from "../messages/errors.js";
import { EventReader } from "./event-reader.js";
import { createFetch } from "./http-fetch.js";
import { createNodeFetch, type NodeFetch } from "./node-fetch.js";
import { refuseRedirect } from "./redirect.js";
import type { Transport } from "./transport.js";

export interface TransportOptions {
  readonly connectTimeoutMs?: number;
}

const defaultConnectTimeoutMs = 10_000;

/** Requests over node:http, or through the proxy the environment names. One for a process: it holds the connections. */
export function createTransport(env: Readonly<NodeJS.ProcessEnv>, options: TransportOptions = {}): Transport {
  const viaProxy = createFetch(env, options.connectTimeoutMs);
  const sender =
    viaProxy === fetch ? createNodeFetch(options.connectTimeoutMs ?? defaultConnectTimeoutMs) : webFetch(viaProxy);
  return {
    fetch: sender.fetch,
    close: () => sender.close(),
    events: (response, bounds) => {
      const source = sender.streamOf(response);
      if (source === undefined) throw new FailureError(noStream(response));
      return new EventReader(source, bounds);
    },
  };
}

function webFetch(viaProxy: typeof fetch): NodeFetch {
  return {
    fetch: async (input, init) => {
      const response = await viaProxy(input, { ...init, redirect: "manual" });
      refuseRedirect(response.status, response.headers);
      return response;
    },
    // The agent of the proxy closes what is idle by itself.
    close: () => undefined,
    streamOf: ({ body }) => (body === null ? undefined : Readable.fromWeb(body)),
  };
}

function noStream(response: Response) {
  const type = (response.headers.get("content-type") ?? "nothing").split(";", 1)[0];
  return { code: "network", message: `the server answered with ${type} instead of a stream`, retryable: true } as const;
}
