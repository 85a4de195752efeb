import { expect, test, vi } from "vitest";
import type { ModelEvent, ModelRequest } from "../../src/messages/model.js";
import { createTransport } from "../../src/providers/transport/node-transport.js";
import type { WireConnection, WireStream } from "../../src/providers/transport/request-head.js";
import { type Answer, begin, dataOf, type Loopback, serve, streaming } from "./loopback.js";
import { collect, requestOf, user } from "./requests.js";

const transport = createTransport({});
export const apiKey = "sk-test-0123456789abcdef";

export function connectionTo(server: Loopback, given: Partial<WireConnection> = {}): WireConnection {
  const baseUrl = `${server.url}/v1`;
  return { provider: "acme", api: "responses", baseUrl, transport, credential: () => apiKey, ...given };
}

export interface AskResult {
  readonly events: ModelEvent[];
  readonly server: Loopback;
}

/** Sends one request to a new server that answers with `answer`. */
export async function ask(
  stream: WireStream,
  answer: Answer,
  request: ModelRequest = requestOf([user("hi")]),
  given: Partial<WireConnection> = {},
): Promise<AskResult> {
  const server = await serve(answer);
  const events = await collect(stream(connectionTo(server, given), request, new AbortController().signal));
  return { events, server };
}

export interface WireCase {
  readonly stream: WireStream;
  /** An event with a text delta. */
  readonly text: unknown;
  /** An event that starts a tool call. */
  readonly halfCall: unknown;
}

const failed = (code: string, message: string, retryable: boolean) => ({
  type: "failed",
  failure: { code, message: `acme: ${message}`, retryable },
});

const json: Answer = (response) => void response.writeHead(200, { "content-type": "application/json" }).end("{}");

function pinging(first: string): Answer {
  return (response) => {
    begin(response, first);
    const timer = setInterval(() => response.write(": ping\n\n"), 5);
    response.on("close", () => clearInterval(timer));
  };
}

/** Tests of faults that have the same outcome over every wire API. */
export function faultCases({ stream, text, halfCall }: WireCase): void {
  const cut = failed("network", "the answer ended before it was complete", true);

  test.each([
    ["nothing", streaming()],
    ["HTML", (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html></html>")],
  ] satisfies [string, Answer][])("an answer of %s is incomplete", async (_name, answer) => {
    expect((await ask(stream, answer)).events).toEqual([cut]);
  });

  test("an answer that is not an event stream is a failure", async () => {
    const message = "the server answered with application/json instead of a stream";
    expect((await ask(stream, json)).events).toEqual([failed("network", message, true)]);
  });

  test("an answer without a last event is incomplete", async () => {
    const { events } = await ask(stream, streaming(dataOf(text)));
    expect(events.at(-1)).toEqual(cut);
    expect(events).toHaveLength(2);
  });

  test("a truncated tool call starts and never becomes an item", async () => {
    const { events } = await ask(stream, streaming(dataOf(halfCall)));
    const begun = events.filter(({ type }) => type !== "tool_call_delta");
    expect(begun).toEqual([expect.objectContaining({ type: "tool_call_start" }), cut]);
  });

  test("a connection reset within an event is a network failure", async () => {
    const { events } = await ask(stream, (response) => {
      begin(response, dataOf(text), 'data: {"type"');
      setImmediate(() => response.socket?.resetAndDestroy());
    });
    expect(events.at(-1)).toEqual(failed("network", "the connection was lost during the answer", true));
  });

  test("a server that is silent or only pings is a timeout", async () => {
    const { events } = await ask(stream, pinging(dataOf(text)), undefined, { idleMs: 500 });
    expect(events.at(-1)).toEqual(failed("timeout", "no data received for 0.5 s", true));
    const silent = await ask(stream, () => undefined, undefined, { idleMs: 500 });
    expect(silent.events).toEqual([failed("timeout", "no answer came in time", true)]);
    const stuck = await ask(stream, (response) => void response.writeHead(500).write("{"), undefined, { idleMs: 500 });
    expect(stuck.events).toEqual([failed("timeout", "no answer came in time", true)]);
  });

  test.each([
    ["is not JSON", "not json"],
    ["is not an object", "[1]"],
    ["contains the key __proto__", '{"type":"x","__proto__":{"polluted":true}}'],
    ["is nested more than 100 levels deep", `{"type":"x","a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
  ])("an event that %s is refused", async (why, data) => {
    const { events } = await ask(stream, streaming(dataOf(data)));
    expect(events).toEqual([failed("bad_message", `an event of the answer ${why}`, true)]);
    expect({}).not.toHaveProperty("polluted");
  });

  test.each([
    [429, { "retry-after": "3" }, '{"error":{"message":"slow down"}}', "rate_limit", ": slow down"],
    [529, {}, '{"error":{"message":"busy"}}', "overloaded", ": busy"],
    [502, {}, "<html>Bad gateway</html>", "server", ""],
    [400, {}, '{"message":"maximum context length is 4096"}', "context_overflow", ": maximum context length is 4096"],
    [401, {}, `{"error":{"message":"Incorrect API key: ${apiKey}"}}`, "auth", ": Incorrect API key: [key]"],
  ])("HTTP status %i is reported with its reason", async (status, headers, body, code, reason) => {
    const { events } = await ask(stream, (response) => void response.writeHead(status, headers).end(body));
    const wait = status === 429 ? { retryAfterMs: 3_000 } : {};
    const retryable = status === 429 || status > 500;
    const verb = status === 401 ? "rejected the API key or login (401)" : `answered ${status}`;
    const message = `acme ${verb}${reason}`;
    expect(events).toEqual([{ type: "failed", failure: { code, message, retryable, ...wait } }]);
  });

  test("a redirect is refused, and the key is not sent to its target", async () => {
    const other = await serve(() => undefined);
    const { events } = await ask(stream, (response) => void response.writeHead(307, { location: other.url }).end());
    expect(events).toMatchObject([{ type: "failed", failure: { code: "invalid_request", retryable: false } }]);
    expect(other.connections).toBe(0);
  });

  test("a refused connection is a network failure", async () => {
    const { server } = await ask(stream, streaming());
    const connection = connectionTo(server, { baseUrl: "http://127.0.0.1:1/v1" });
    const events = await collect(stream(connection, requestOf([user("hi")]), new AbortController().signal));
    expect(events).toEqual([failed("network", "cannot connect to 127.0.0.1:1 (ECONNREFUSED)", true)]);
  });

  test("an abort ends the stream without a last event and closes the connection", async () => {
    const server = await serve((response) => begin(response, dataOf(text)));
    const controller = new AbortController();
    const seen: ModelEvent[] = [];
    for await (const event of stream(connectionTo(server), requestOf([user("hi")]), controller.signal)) {
      seen.push(event);
      controller.abort();
    }
    expect(seen).toHaveLength(1);
    await vi.waitFor(() => expect(server.open.size).toBe(0));
    expect(await collect(stream(connectionTo(server), requestOf([user("hi")]), controller.signal))).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  test("an abort before the answer ends the stream and closes the connection", async () => {
    const controller = new AbortController();
    const server = await serve(() => controller.abort());
    expect(await collect(stream(connectionTo(server), requestOf([user("hi")]), controller.signal))).toEqual([]);
    await vi.waitFor(() => expect(server.open.size).toBe(0));
  });

  test("a caller that returns before the answer closes the connection", async () => {
    const server = await serve(() => undefined);
    const request = requestOf([user("hi")]);
    const events = stream(connectionTo(server), request, new AbortController().signal)[Symbol.asyncIterator]();
    const first = events.next();
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    await events.return?.();
    expect(await first).toEqual({ done: true, value: undefined });
    await vi.waitFor(() => expect(server.open.size).toBe(0));
  });

  test("a changed key is sent with the next request", async () => {
    const server = await serve(streaming());
    const keys = ["sk-first-key", "sk-second-key", "sk-second-key"];
    const left = keys.values();
    const connection = connectionTo(server, { credential: () => left.next().value });
    for (const _ of keys) await collect(stream(connection, requestOf([user("hi")]), new AbortController().signal));
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(keys.map((key) => `Bearer ${key}`));
  });

  test("the given key is sent, and without one no key of the environment is sent", async () => {
    const { server } = await ask(stream, streaming());
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
    vi.stubEnv("OPENAI_API_KEY", "sk-of-the-environment");
    vi.stubEnv("OPENAI_ADMIN_KEY", "sk-admin");
    vi.stubEnv("OPENAI_ORG_ID", "org-of-the-environment");
    const keyless = await ask(stream, streaming(), undefined, { credential: () => undefined });
    vi.unstubAllEnvs();
    expect(JSON.stringify(keyless.server.requests[0]?.headers)).not.toMatch(/environment|admin|none/);
  });
}

/** A test that a hundred answers reuse one connection and remove their abort listeners. */
export function leakCase(stream: WireStream, answer: Answer): void {
  test("a hundred requests reuse connections and leave no abort listener", async () => {
    const server = await serve(answer);
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, "addEventListener");
    const remove = vi.spyOn(signal, "removeEventListener");
    for (let count = 0; count < 100; count += 1) {
      const events = await collect(stream(connectionTo(server), requestOf([user("hi")]), signal));
      expect(events.at(-1)?.type).toBe("done");
    }
    expect(server.requests).toHaveLength(100);
    expect(server.connections).toBeLessThanOrEqual(3);
    expect(remove.mock.calls.length).toBe(add.mock.calls.length);
  });
}
