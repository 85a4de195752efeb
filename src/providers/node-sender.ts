import http from "node:http";
import https from "node:https";
import { answerOf } from "./node-request.js";
import { isRedirect, refusedRedirect } from "./redirect.js";

/** Every conversation has one request under way; more wait for a free connection. All may stay for the next turn. */
const maxSocketsPerHost = 1_000;
/** After longer, something between us and the server may have forgotten the connection. */
const maxIdleMs = 60_000;

export interface Sending {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: () => string | Uint8Array | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Requests over node:http, and the connections that are kept for the next ones. */
export class NodeSender {
  readonly #connectTimeoutMs: number;
  readonly #http = new http.Agent(pool);
  readonly #https = new https.Agent(pool);

  constructor(connectTimeoutMs: number) {
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** Resolves when the headers of the answer are there. Aborting ends it, also after that. */
  async send(sending: Sending): Promise<http.IncomingMessage> {
    const message = await this.#send(sending, true);
    const status = message.statusCode ?? 0;
    if (!isRedirect(status)) return message;
    message.destroy();
    throw refusedRedirect(status, message.headers.location ?? "");
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  async #send(sending: Sending, mayReuse: boolean): Promise<http.IncomingMessage> {
    const { request, answer } = this.#begin(sending, mayReuse);
    try {
      return await answer;
    } catch (error) {
      // The server closed the idle connection just as we took it, so it has not seen the request.
      const closed = mayReuse && request.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (!closed || sending.signal?.aborted === true) throw error;
      return this.#send(sending, false);
    }
  }

  /** Waits for nothing: whoever waits would keep the body until the answer begins. */
  #begin({ url, method, headers, body, signal }: Sending, mayReuse: boolean): Begun {
    const made = body();
    const secure = url.protocol === "https:";
    // `false` is a connection of its own.
    const agent = mayReuse && (secure ? this.#https : this.#http);
    const request = (secure ? https : http).request(url, { method, agent });
    // Not as an option: a connection keeps the options it was opened with as long as it lives, and the key in them.
    for (const name in headers) request.setHeader(name, headers[name] ?? "");
    if (made !== undefined) request.setHeader("content-length", Buffer.byteLength(made));
    const answer = answerOf(request, { signal, connectTimeoutMs: this.#connectTimeoutMs });
    request.end(made);
    return { request, answer };
  }
}

interface Begun {
  readonly request: http.ClientRequest;
  readonly answer: Promise<http.IncomingMessage>;
}

const pool: https.AgentOptions = {
  keepAlive: true,
  maxSockets: maxSocketsPerHost,
  maxFreeSockets: maxSocketsPerHost,
  timeout: maxIdleMs,
  scheduling: "lifo",
};
