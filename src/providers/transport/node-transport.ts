import type { IncomingMessage } from "node:http";
import { pipeline, Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import http from "node:http";
import https from "node:https";
import { FailureError } from "../../messages/failure-error.js";
import { AnswerError } from "../failures/answer-error.js";
import { createFetch } from "./http-fetch.js";
import { answerOf } from "./node-request.js";
import { EventReader } from "./sse-reader.js";
import { maxErrorBytes, type PendingResponse, type Transport } from "./transport.js";

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

const maxResponseBytes = 32 * 1024 * 1024;

const withoutBody: ReadonlySet<number> = new Set([204, 205]);

export interface TransportOptions {
  readonly connectTimeoutMs?: number;
}

const defaultConnectTimeoutMs = 10_000;

/**
 * Sends requests over node:http, or through the proxy in the environment. Create one per process, because it owns the
 * connections.
 */
export function createTransport(env: Readonly<NodeJS.ProcessEnv>, options: TransportOptions = {}): Transport {
  const viaProxy = createFetch(env, options.connectTimeoutMs);
  return viaProxy === fetch ? direct(options.connectTimeoutMs ?? defaultConnectTimeoutMs) : proxied(viaProxy);
}

function direct(connectTimeoutMs: number): Transport {
  const sender = new NodeSender(connectTimeoutMs);
  return { fetch: nodeFetch(sender), post: nodePost(sender), events, close: () => sender.close() };
}

function proxied(viaProxy: typeof fetch): Transport {
  const send: typeof fetch = async (input, init) => {
    const response = await viaProxy(input, { ...init, redirect: "manual" });
    if (!isRedirect(response.status)) return response;
    await response.body?.cancel();
    throw refusedRedirect(response.status, response.headers.get("location") ?? "");
  };
  // The proxy agent closes idle connections itself.
  return { fetch: send, post: webPost(send), events, close: () => undefined };
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

/** Uses node:http, because undici's web streams cost more than parsing the data. */
function nodePost(sender: NodeSender): Transport["post"] {
  return ({ url, headers }, body) => {
    const sent = sender.send({ url, method: "POST", headers, body });
    return { answer: sent.answer.then(nodeResponse), cancel: (reason) => sent.cancel(reason) };
  };
}

async function nodeResponse(message: IncomingMessage): Promise<PendingResponse> {
  const { statusCode = 0, headers } = message;
  const body = decoded(message, headers["content-encoding"]);
  if (statusCode >= 400) {
    throw new AnswerError(statusCode, await readText(body, maxErrorBytes), headers["retry-after"]);
  }
  // Without a listener, an error before the first read would crash the process. The reader detects the failure itself.
  body.on("error", () => undefined);
  return { headers, body };
}

/** A `fetch` over node:http for short answers: it resolves after reading the whole body. */
function nodeFetch(sender: NodeSender): typeof fetch {
  return async (input, init) => {
    const { signal } = init ?? {};
    signal?.throwIfAborted();
    const sent = sender.send(sendingOf(input, init));
    const onAbort = (): void => sent.cancel(signal?.reason as Error);
    signal?.addEventListener("abort", onAbort);
    try {
      return await readResponse(await sent.answer);
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  };
}

async function readResponse(message: IncomingMessage): Promise<Response> {
  const status = message.statusCode ?? 0;
  const headers = headersOf(message);
  const body = decoded(message, headers.get("content-encoding"));
  const text = await readText(body, status >= 400 ? maxErrorBytes : maxResponseBytes);
  return new Response(withoutBody.has(status) ? null : text, { status, headers });
}

function sendingOf(input: string | URL | Request, init: RequestInit = {}): Sending {
  if (typeof input !== "string" && !(input instanceof URL)) throw new TypeError("fetch needs a URL");
  const { body } = init;
  if (body !== undefined && body !== null && typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new TypeError("fetch can only send text or bytes");
  }
  return {
    url: new URL(input),
    method: init.method ?? "GET",
    headers: Object.fromEntries(init.headers instanceof Headers ? init.headers : new Headers(init.headers)),
    body: () => body ?? undefined,
  };
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  return headers;
}

/** cody requests no encoding, but some proxies choose one. */
function decoded(source: Readable, encoding: string | null | undefined): Readable {
  const decoder = decoderFor(encoding?.trim().toLowerCase() ?? "");
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

interface Sending {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Called when the request is sent. */
  readonly body: () => string | Uint8Array | undefined;
}

/** Sends requests over node:http, and keeps connections open for later ones. */
class NodeSender {
  readonly #connectTimeoutMs: number;
  readonly #http = new http.Agent(pool);
  readonly #https = new https.Agent(pool);

  constructor(connectTimeoutMs: number) {
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  send(sending: Sending): Sent {
    return new Sent((mayReuse) => this.#begin(sending, mayReuse));
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  /** Not async: an awaiting caller would keep the body in memory until the response begins. */
  #begin({ url, method, headers, body }: Sending, mayReuse: boolean): Begun {
    const created = body();
    const secure = url.protocol === "https:";
    // `false` opens a new connection.
    const agent = mayReuse && (secure ? this.#https : this.#http);
    const request = (secure ? https : http).request(url, { method, agent });
    // Not passed as an option: a connection keeps the options it was opened with, including the key, for its lifetime.
    for (const name in headers) request.setHeader(name, headers[name] ?? "");
    if (created !== undefined) request.setHeader("content-length", Buffer.byteLength(created));
    const answer = answerOf(request, this.#connectTimeoutMs);
    request.end(created);
    return { request, answer };
  }
}

interface Begun {
  readonly request: http.ClientRequest;
  readonly answer: Promise<http.IncomingMessage>;
}

/** A request in flight. */
class Sent {
  /** Resolves once the headers have arrived. */
  readonly answer: Promise<http.IncomingMessage>;
  #request: http.ClientRequest | undefined;
  #reason: Error | undefined;

  constructor(begin: (mayReuse: boolean) => Begun) {
    this.answer = this.#send(begin, true);
  }

  /** Cancels the request, also while the response is being received. */
  cancel(reason: Error): void {
    this.#reason ??= reason;
    this.#request?.destroy(reason);
  }

  async #send(begin: (mayReuse: boolean) => Begun, mayReuse: boolean): Promise<http.IncomingMessage> {
    const { request, answer } = begin(mayReuse);
    this.#request = request;
    try {
      return refuseRedirect(await answer);
    } catch (error) {
      if (this.#reason !== undefined) throw this.#reason;
      // The server closed the idle connection just as it was reused, so it has not seen the request.
      const closed = mayReuse && request.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (!closed) throw error;
      return await this.#send(begin, false);
    }
  }
}

function refuseRedirect(message: http.IncomingMessage): http.IncomingMessage {
  const status = message.statusCode ?? 0;
  if (!isRedirect(status)) return message;
  message.destroy();
  throw refusedRedirect(status, message.headers.location ?? "");
}

/** Redirects are never followed: the key and the conversation must only go to the configured address. */
function refusedRedirect(status: number, target: string): FailureError {
  const where = URL.canParse(target) ? ` to ${new URL(target).host}` : "";
  const message = `the server answered ${status}, a redirect${where}, which is not followed: set the base URL to its target`;
  return new FailureError({ code: "invalid_request", message, retryable: false });
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** Reads at most `maxBytes` of a stream as text. The rest is discarded with its connection. */
async function readText(source: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).toString("utf8", 0, maxBytes);
}

/** Posts through a web `fetch`, which is how a proxy is reached. */
function webPost(fetchFrom: typeof fetch): Transport["post"] {
  return ({ url, headers }, body) => {
    const controller = new AbortController();
    const { signal } = controller;
    return {
      answer: fetchFrom(url, { method: "POST", headers, body: body(), signal }).then(webResponse),
      cancel: (reason) => controller.abort(reason),
    };
  };
}

async function webResponse(response: Response): Promise<PendingResponse> {
  const body = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body);
  if (!response.ok) {
    const text = await readText(body, maxErrorBytes);
    throw new AnswerError(response.status, text, response.headers.get("retry-after") ?? undefined);
  }
  // Without a listener, an error before the first read would crash the process. The reader detects the failure itself.
  body.on("error", () => undefined);
  return { headers: Object.fromEntries(response.headers), body };
}
