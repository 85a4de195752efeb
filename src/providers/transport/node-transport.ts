import type { IncomingMessage } from "node:http";
import { FailureError } from "../../messages/errors.js";
import { AnswerError } from "../failures/answer-error.js";
import { decoded } from "./content-encoding.js";
import { createFetch } from "./http-fetch.js";
import { nodeFetch } from "./node-fetch.js";
import { NodeSender } from "./node-sender.js";
import { readText } from "./read-text.js";
import { isRedirect, refusedRedirect } from "./redirect.js";
import { EventReader } from "./sse-reader.js";
import { maxErrorBytes } from "./stream-bounds.js";
import type { Answer, Transport } from "./transport.js";
import { webPost } from "./web-post.js";

export interface TransportOptions {
  readonly connectTimeoutMs?: number;
}

const defaultConnectTimeoutMs = 10_000;

/** Requests over node:http, or through the proxy the environment names. One for a process: it holds the connections. */
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
  // The agent of the proxy closes what is idle by itself.
  return { fetch: send, post: webPost(send), events, close: () => undefined };
}

const events: Transport["events"] = (answer, bounds) => {
  const type = typeOf(answer);
  // A server that says nothing of what it sends may send events.
  if (/\bjson\b/.test(type)) {
    answer.body.destroy();
    throw new FailureError({ code: "network", message: noStream(type), retryable: true });
  }
  return new EventReader(answer.body, bounds);
};

function typeOf({ headers }: Answer): string {
  return String(headers["content-type"] ?? "").split(";", 1)[0] ?? "";
}

const noStream = (type: string): string => `the server answered with ${type} instead of a stream`;

/** Over node:http, because undici's web streams cost more than parsing what comes through them. */
function nodePost(sender: NodeSender): Transport["post"] {
  return ({ url, headers }, body) => {
    const sent = sender.send({ url, method: "POST", headers, body });
    return { answer: sent.answer.then(answerIn), cancel: (reason) => sent.cancel(reason) };
  };
}

async function answerIn(message: IncomingMessage): Promise<Answer> {
  const { statusCode = 0, headers } = message;
  const body = decoded(message, headers["content-encoding"]);
  if (statusCode >= 400) {
    throw new AnswerError(statusCode, await readText(body, maxErrorBytes), headers["retry-after"]);
  }
  // Nobody listens between now and the first read; what breaks then is seen by who reads.
  body.on("error", () => undefined);
  return { headers, body };
}
