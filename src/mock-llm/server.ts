import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { chatApi } from "./chat/api.js";
import {
  type Behaviour,
  decide,
  type Decision,
  Memory,
  offlineReplies,
  type Replies,
  scriptedReplies,
} from "./exchange.js";
import { Ids, type MockApi } from "./wire-api.js";
import { messagesApi } from "./messages/api.js";
import { type LoggedRequest, withoutSecrets, respond } from "./respond.js";
import { responsesApi } from "./responses/api.js";
import { type MockReply, type MockScript, readScript } from "./script.js";

const routes: Readonly<Record<string, MockApi>> = {
  "/responses": responsesApi,
  "/chat/completions": chatApi,
  "/messages": messagesApi,
};

/** The limit of the Messages API. */
const maxBodyBytes = 32 * 1024 * 1024;

export interface MockLlmOptions {
  /** 0, the default, uses a free port. */
  readonly port?: number;
  /** Without a script, the offline model answers. */
  readonly script?: MockScript | readonly MockReply[];
  /** Used instead of a script, so that replies can depend on the requests. */
  readonly replies?: Replies;
  /** Whether to refuse requests that the real APIs refuse. Default: true. */
  readonly strict?: boolean;
  /** The key that clients must send; if absent, every key is accepted. */
  readonly apiKey?: string;
  /** The known models; if absent, every model is accepted. */
  readonly models?: readonly string[];
  /** How many of the newest requests `requests` keeps. Default: 1,000. */
  readonly keepRequests?: number;
  /** Called for every request once its outcome is decided, before it is sent. */
  readonly onRequest?: (request: LoggedRequest) => void;
  /** The prefix of all ids. Default: random. */
  readonly seed?: string;
  readonly now?: () => number;
}

/** A running mock server of the three wire APIs. */
export interface MockLlm extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`: the value for ANTHROPIC_BASE_URL; OPENAI_BASE_URL needs `/v1` appended. */
  readonly url: string;
  readonly port: number;
  /** The requests so far, oldest first. */
  readonly requests: readonly LoggedRequest[];
  /** Resolves when all clients are disconnected; running answers are cut off. */
  close(): Promise<void>;
}

const host = "127.0.0.1";
const defaultLogged = 1_000;

/** Starts a server on the loopback interface. */
export async function startMockLlm(options: MockLlmOptions = {}): Promise<MockLlm> {
  const behaviour: Behaviour = {
    strict: options.strict ?? true,
    apiKey: options.apiKey,
    models: options.models,
    replies: options.replies ?? scripted(options.script),
    memory: new Memory(),
    ids: new Ids(options.seed ?? randomBytes(8).toString("hex")),
    now: options.now ?? Date.now,
  };
  const requests: LoggedRequest[] = [];
  const maxLogged = options.keepRequests ?? defaultLogged;
  let count = 0;
  const log = (request: Omit<LoggedRequest, "number">): void => {
    count += 1;
    const logged = { number: count, ...request };
    if (maxLogged > 0) requests.push(logged);
    if (requests.length > maxLogged) requests.shift();
    options.onRequest?.(logged);
  };

  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    // A client that disconnects in the middle is not an error.
    response.on("error", () => undefined);
    void serve(request, response, behaviour, log).catch((error: unknown) => {
      response.destroy();
      throw error;
    });
  });
  server.listen({ port: options.port ?? 0, host, backlog: 4_096 });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://${host}:${port}`, port, requests, close, [Symbol.asyncDispose]: close };
}

function scripted(script: MockLlmOptions["script"]): Replies {
  return script === undefined ? offlineReplies : scriptedReplies(readScript(script, "script"));
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  behaviour: Behaviour,
  log: (request: Omit<LoggedRequest, "number">) => void,
): Promise<void> {
  const method = request.method ?? "";
  const [path = ""] = (request.url ?? "").split("?", 1);
  const api = apiAt(path);
  const text = await readBody(request);
  if (request.destroyed && !request.complete) return;
  const decision =
    api === undefined || method !== "POST"
      ? unknownRoute(method, path, api === undefined ? 404 : 405)
      : decide({ api, headers: request.headers, text }, behaviour);
  const { status, refusal, fault, send } = respond(
    response,
    api ?? nearestApi(request.headers),
    decision,
    behaviour.ids,
  );
  const headers = withoutSecrets(request.headers);
  log({
    api: api?.name,
    method,
    path,
    headers,
    body: decision.body,
    session: decision.session,
    status,
    refusal,
    fault,
  });
  await send();
}

function unknownRoute(method: string, path: string, status: number): Decision {
  const message = status === 404 ? `Invalid URL (${method} ${path})` : `Not allowed to ${method} on ${path}.`;
  return { type: "refuse", body: undefined, session: "", refusal: { status, message } };
}

/** The body as text; undefined if it is too large, or if the client disconnected. */
function readBody(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBodyBytes) chunks.push(chunk);
      else chunks.length = 0;
    });
    request.on("end", () => resolve(size > maxBodyBytes ? undefined : Buffer.concat(chunks, size).toString("utf8")));
    // Without a listener, an error would crash the server; `close` follows it.
    request.on("error", () => undefined);
    request.on("close", () => resolve(undefined));
  });
}

/** The wire API for a path, with or without `/v1`. */
function apiAt(path: string): MockApi | undefined {
  return routes[path.replace(/^\/v1(?=\/)/, "")];
}

/** The API whose error format is used for an unknown path: the one the client seems to expect. */
function nearestApi(headers: IncomingHttpHeaders): MockApi {
  return headers["anthropic-version"] === undefined ? responsesApi : messagesApi;
}
