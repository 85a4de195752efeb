import http from "node:http";
import https from "node:https";
import type { Readable } from "node:stream";
import { decoded } from "./content-encoding.js";
import { errorBody } from "./error-body.js";
import { answerTo } from "./node-request.js";
import { readText } from "./read-text.js";
import { refuseRedirect } from "./redirect.js";

/** Every conversation has one request under way; more wait for a free connection. All may stay for the next turn. */
const maxSocketsPerHost = 1_000;
/** After longer, something between us and the server may have forgotten the connection. */
const maxIdleMs = 60_000;
const maxErrorBytes = 64 * 1024;
const maxJsonBytes = 32 * 1024 * 1024;
const withoutBody: ReadonlySet<number> = new Set([204, 205]);

export interface NodeFetch {
  readonly fetch: typeof fetch;
  /** The bytes of an answer that is a stream; undefined when the answer has its body itself. */
  streamOf(response: Response): Readable | undefined;
  /** Lets go of the connections that are kept for the next request. */
  close(): void;
}

interface Sending {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * A `fetch` over node:http, because undici's web streams cost more than parsing what comes through them. An answer
 * that is a stream has no web body: `streamOf` gives the socket's own. Others are read whole.
 */
export function createNodeFetch(connectTimeoutMs: number): NodeFetch {
  const streams = new WeakMap<Response, Readable>();
  const agents = { http: new http.Agent(pool), https: new https.Agent(pool) };
  const send = sender(agents, connectTimeoutMs);
  return {
    close: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
    streamOf: (response) => streams.get(response),
    fetch: async (input, init) => {
      const message = await send(sendingOf(input, init));
      const status = message.statusCode ?? 0;
      const headers = headersOf(message);
      const body = decoded(message, headers.get("content-encoding"));
      // Nobody listens between now and the first read; what breaks then is seen by who reads.
      body.on("error", () => undefined);
      if (status >= 300 && status < 400) body.destroy();
      refuseRedirect(status, headers);
      if (status >= 400) return new Response(errorBody(await readText(body, maxErrorBytes)), { status, headers });
      if (/\bjson\b/.test(headers.get("content-type") ?? "")) {
        return new Response(await readText(body, maxJsonBytes), { status, headers });
      }
      const response = new Response(null, { status, headers });
      if (withoutBody.has(status)) body.resume();
      else streams.set(response, body);
      return response;
    },
  };
}

const pool: https.AgentOptions = {
  keepAlive: true,
  maxSockets: maxSocketsPerHost,
  maxFreeSockets: maxSocketsPerHost,
  timeout: maxIdleMs,
  scheduling: "lifo",
};

interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

function sender(agents: Agents, connectTimeoutMs: number): (sending: Sending) => Promise<http.IncomingMessage> {
  const send = async (sending: Sending, mayReuse: boolean): Promise<http.IncomingMessage> => {
    const { url, method, headers, body, signal } = sending;
    const secure = url.protocol === "https:";
    // `false` is a connection of its own.
    const agent = mayReuse && (secure ? agents.https : agents.http);
    const request = (secure ? https : http).request(url, { method, agent });
    // Not as an option: a connection keeps the options it was opened with as long as it lives, and the key in them.
    for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
    try {
      return await answerTo(request, { body, signal, connectTimeoutMs });
    } catch (error) {
      // The server closed the idle connection just as we took it, so it has not seen the request.
      const closed = mayReuse && request.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (!closed || signal?.aborted === true) throw error;
      return send(sending, false);
    }
  };
  return (sending) => send(sending, true);
}

function sendingOf(input: string | URL | Request, init: RequestInit = {}): Sending {
  if (typeof input !== "string" && !(input instanceof URL)) throw new TypeError("fetch wants an address");
  const { body } = init;
  if (body !== undefined && body !== null && typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new TypeError("fetch sends text or bytes only");
  }
  const headers = Object.fromEntries(init.headers instanceof Headers ? init.headers : new Headers(init.headers));
  if (body !== undefined && body !== null) headers["content-length"] = String(Buffer.byteLength(body));
  return {
    url: new URL(input),
    method: init.method ?? "GET",
    headers,
    body: body ?? undefined,
    signal: init.signal ?? undefined,
  };
}

function headersOf({ rawHeaders }: http.IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  return headers;
}
