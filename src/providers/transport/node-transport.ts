import type { ClientRequest, IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import http from "node:http";
import https from "node:https";
import { TLSSocket } from "node:tls";
import { FailureError } from "../../messages/failure-error.js";
import { AnswerError } from "../failures/answer-error.js";
import { proxiedClient } from "./http-fetch.js";
import { EventReader } from "./sse-reader.js";
import {
  maxErrorBytes,
  type AnswerHeaders,
  type PendingResponse,
  type PostedRequest,
  type RequestContent,
  type RequestHead,
  type Transport,
} from "./transport.js";

/**
 * Every conversation has one request in flight; further ones wait for a free connection. All connections may stay open
 * for the next turn.
 */
const maxSocketsPerHost = 1_000;

/** A connection that has been idle for longer may have been dropped by a device between us and the server. */
const maxIdleMs = 60_000;

const pool: https.AgentOptions = {
  keepAlive: true,
  maxSockets: maxSocketsPerHost,
  maxFreeSockets: maxSocketsPerHost,
  timeout: maxIdleMs,
  scheduling: "lifo",
};

export interface TransportOptions {
  readonly connectTimeoutMs?: number;
}

const defaultConnectTimeoutMs = 10_000;

/**
 * Sends requests over node:http, or through the proxy in the environment. Create one per process, because it owns the
 * connections.
 */
export function createTransport(env: Readonly<NodeJS.ProcessEnv>, options: TransportOptions = {}): Transport {
  const { connectTimeoutMs = defaultConnectTimeoutMs } = options;
  const proxied = proxiedClient(env, connectTimeoutMs);
  const connections = proxied === undefined ? new NodeConnections(connectTimeoutMs) : new ProxiedConnections(proxied);
  return {
    post: (head, body) => new Sent((mayReuse) => connections.begin(head, body, mayReuse)),
    events,
    close: () => connections.close(),
  };
}

const events: Transport["events"] = (answer, bounds) => {
  const type = typeOf(answer);
  // A response without a content type may still be an event stream.
  if (/\bjson\b/.test(type)) {
    answer.body.destroy();
    throw new FailureError({ code: "network", message: noStream(type), retryable: true });
  }
  return new EventReader(answer.body, bounds);
};

function typeOf({ headers }: PendingResponse): string {
  return String(headers["content-type"] ?? "").split(";", 1)[0] ?? "";
}

const noStream = (type: string): string => `the server answered with ${type} instead of a stream`;

/** cody requests no encoding, but some proxies choose one. */
function decoded(source: Readable, encoding: string): Readable {
  const decoder = decoderFor(encoding.trim().toLowerCase());
  if (decoder === undefined) return source;
  // The decoder's own error event reports a failure.
  return pipeline(source, decoder, () => undefined);
}

/** Flushes every chunk as it arrives: an event must not wait for the next one. */
function decoderFor(encoding: string) {
  const { Z_SYNC_FLUSH: flush, BROTLI_OPERATION_FLUSH } = constants;
  if (encoding === "gzip" || encoding === "x-gzip") return createGunzip({ flush });
  if (encoding === "deflate") return createInflate({ flush });
  return encoding === "br" ? createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH }) : undefined;
}

/** A response before its body is decoded. */
interface RawResponse {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Readable;
}

/** An attempt to send a request. */
interface Begun {
  readonly answer: Promise<RawResponse>;
  /** Ends the attempt, also while the response is being received. */
  cancel(reason: Error): void;
  /** Whether it used a connection that an earlier request had left open. */
  hasReused(): boolean;
}

/** Opens connections, and keeps them open for later requests. */
interface Connections {
  /** Without `mayReuse`, a new connection is opened. */
  begin(head: RequestHead, body: () => RequestContent, mayReuse: boolean): Begun;
  close(): void;
}

/** Uses node:http, because undici takes a tenth of a second to load, and its web streams cost more than the parsing. */
class NodeConnections implements Connections {
  readonly #connectTimeoutMs: number;
  readonly #http = new http.Agent(pool);
  readonly #https = new https.Agent(pool);

  constructor(connectTimeoutMs: number) {
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** Not async: an awaiting caller would keep the body in memory until the response begins. */
  begin({ url, headers }: RequestHead, body: () => RequestContent, mayReuse: boolean): Begun {
    const chunks = body();
    const secure = url.protocol === "https:";
    // `false` opens a new connection.
    const agent = mayReuse && (secure ? this.#https : this.#http);
    const request = (secure ? https : http).request(url, { method: "POST", agent });
    // Not passed as an option: a connection keeps the options it was opened with, including the key, for its lifetime.
    for (const name in headers) request.setHeader(name, headers[name] ?? "");
    request.setHeader("content-length", bytesOf(chunks));
    const answer = answerOf(request, this.#connectTimeoutMs);
    for (const chunk of chunks) request.write(chunk);
    request.end();
    return {
      answer: answer.then((message) => ({ status: message.statusCode ?? 0, headers: message.headers, body: message })),
      cancel: (reason) => request.destroy(reason),
      hasReused: () => request.reusedSocket,
    };
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

/** Uses undici's connections through a proxy, which node:http does not have in Node 20. */
class ProxiedConnections implements Connections {
  readonly #client: NonNullable<ReturnType<typeof proxiedClient>>;

  constructor(client: NonNullable<ReturnType<typeof proxiedClient>>) {
    this.#client = client;
  }

  begin({ url, headers }: RequestHead, body: () => RequestContent): Begun {
    const controller = new AbortController();
    const send = async (): Promise<RawResponse> => {
      const { undici, dispatcher } = await this.#client();
      const response = await undici.request(url, {
        method: "POST",
        headers,
        body: Buffer.concat(body()),
        dispatcher,
        signal: controller.signal,
        // The caller has deadlines of its own.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      return { status: response.statusCode, headers: response.headers, body: response.body };
    };
    return { answer: send(), cancel: (reason) => controller.abort(reason), hasReused: () => false };
  }

  /** The proxy agent closes idle connections itself. */
  close(): void {}
}

/** A request in flight. */
class Sent implements PostedRequest {
  readonly answer: Promise<PendingResponse>;
  #begun: Begun | undefined;
  #reason: Error | undefined;

  constructor(begin: (mayReuse: boolean) => Begun) {
    this.answer = this.#send(begin, true).then(checkedResponse);
  }

  cancel(reason: Error): void {
    this.#reason ??= reason;
    this.#begun?.cancel(reason);
  }

  async #send(begin: (mayReuse: boolean) => Begun, mayReuse: boolean): Promise<RawResponse> {
    const begun = begin(mayReuse);
    this.#begun = begun;
    try {
      return await begun.answer;
    } catch (error) {
      if (this.#reason !== undefined) throw this.#reason;
      // The server closed the idle connection just as it was reused, so it has not seen the request.
      const closed = mayReuse && begun.hasReused() && (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (!closed) throw error;
      return await this.#send(begin, false);
    }
  }
}

/**
 * Refuses redirects, because the key and the conversation must only go to the configured address, and throws an
 * `AnswerError` if the server reports an error.
 */
async function checkedResponse({ status, headers, body: raw }: RawResponse): Promise<PendingResponse> {
  if (status >= 300 && status < 400) {
    raw.on("error", () => undefined).destroy();
    throw refusedRedirect(status, String(headers["location"] ?? ""));
  }
  const body = decoded(raw, String(headers["content-encoding"] ?? ""));
  if (status >= 400) {
    const retryAfter = headers["retry-after"];
    throw new AnswerError(status, await readText(body, maxErrorBytes), retryAfter && String(retryAfter));
  }
  // Without a listener, an error before the first read would crash the process. The reader detects the failure itself.
  body.on("error", () => undefined);
  return { headers, body };
}

function refusedRedirect(status: number, target: string): FailureError {
  const where = URL.canParse(target) ? ` to ${new URL(target).host}` : "";
  const message = `the server answered ${status}, a redirect${where}, which is not followed: set the base URL to its target`;
  return new FailureError({ code: "invalid_request", message, retryable: false });
}

/** Reads at most `maxBytes` of a body as text. The rest is discarded with its connection. */
export async function readText(body: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).toString("utf8", 0, maxBytes);
}

function bytesOf(chunks: RequestContent): number {
  return chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Resolves with the response once its headers have arrived. */
function answerOf(request: ClientRequest, connectTimeoutMs: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    request.on("error", reject);
    request.on("response", resolve);
    request.on("close", () => clearTimeout(timer));
    // The time spent waiting for a free connection does not count.
    request.on("socket", (socket) => {
      if (!socket.connecting) return;
      timer = setTimeout(() => request.destroy(unconnected(request, connectTimeoutMs)), connectTimeoutMs);
      socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", () => clearTimeout(timer));
    });
  });
}

function unconnected(request: ClientRequest, ms: number): FailureError {
  const message = `cannot connect to ${request.host} within ${Math.round(ms / 100) / 10} s`;
  return new FailureError({ code: "timeout", message, retryable: true });
}
