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
  /** Made when it is sent. */
  readonly body: () => string | Uint8Array | undefined;
}

/** Requests over node:http, and the connections that are kept for the next ones. */
export class NodeSender {
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

  /** Waits for nothing: whoever waits would keep the body until the answer begins. */
  #begin({ url, method, headers, body }: Sending, mayReuse: boolean): Begun {
    const made = body();
    const secure = url.protocol === "https:";
    // `false` is a connection of its own.
    const agent = mayReuse && (secure ? this.#https : this.#http);
    const request = (secure ? https : http).request(url, { method, agent });
    // Not as an option: a connection keeps the options it was opened with as long as it lives, and the key in them.
    for (const name in headers) request.setHeader(name, headers[name] ?? "");
    if (made !== undefined) request.setHeader("content-length", Buffer.byteLength(made));
    const answer = answerOf(request, this.#connectTimeoutMs);
    request.end(made);
    return { request, answer };
  }
}

interface Begun {
  readonly request: http.ClientRequest;
  readonly answer: Promise<http.IncomingMessage>;
}

/** A request that is under way. */
export class Sent {
  /** Resolves when the headers are there. */
  readonly answer: Promise<http.IncomingMessage>;
  #request: http.ClientRequest | undefined;
  #reason: Error | undefined;

  constructor(begin: (mayReuse: boolean) => Begun) {
    this.answer = this.#send(begin, true);
  }

  /** Ends it, also while the answer comes. */
  cancel(reason: Error): void {
    this.#reason ??= reason;
    this.#request?.destroy(reason);
  }

  async #send(begin: (mayReuse: boolean) => Begun, mayReuse: boolean): Promise<http.IncomingMessage> {
    const { request, answer } = begin(mayReuse);
    this.#request = request;
    try {
      return kept(await answer);
    } catch (error) {
      if (this.#reason !== undefined) throw this.#reason;
      // The server closed the idle connection just as we took it, so it has not seen the request.
      const closed = mayReuse && request.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (!closed) throw error;
      return await this.#send(begin, false);
    }
  }
}

function kept(message: http.IncomingMessage): http.IncomingMessage {
  const status = message.statusCode ?? 0;
  if (!isRedirect(status)) return message;
  message.destroy();
  throw refusedRedirect(status, message.headers.location ?? "");
}

const pool: https.AgentOptions = {
  keepAlive: true,
  maxSockets: maxSocketsPerHost,
  maxFreeSockets: maxSocketsPerHost,
  timeout: maxIdleMs,
  scheduling: "lifo",
};
