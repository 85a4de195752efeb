import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createTransport, readText } from "../../../src/providers/transport/node-transport.js";
import type {
  PendingResponse,
  RequestContent,
  PostedRequest,
  ServerEvent,
  StreamBounds,
  Transport,
} from "../../../src/providers/transport/transport.js";
import { begin, dataOf, serve, streaming } from "../loopback.js";
import { startProxy } from "../proxy.js";

const transport = createTransport({});

function boundsOf(bounds: Partial<StreamBounds> = {}): StreamBounds {
  return { idleMs: 10_000, maxEventBytes: 1_000_000, ...bounds };
}

function startPost(url: string, through = transport): PostedRequest {
  return through.post({ url: new URL(url), headers: {} }, () => [Buffer.from("{}")]);
}

function post(url: string, through = transport): Promise<PendingResponse> {
  return startPost(url, through).answer;
}

async function read(
  url: string,
  bounds: Partial<StreamBounds> = {},
  through: Transport = transport,
): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of through.events(await post(url, through), boundsOf(bounds))) events.push(event);
  return events;
}

const data = (text: string): ServerEvent => ({ event: "", data: text });

describe("the response", () => {
  test("a short response is read as text", async () => {
    const { url, requests } = await serve((response) => {
      response.writeHead(200, { "content-type": "application/json", "x-request-id": "r1" });
      response.end('{"a":"ü"}');
    });
    const head = { url: new URL(`${url}/path?q=1`), headers: { "x-test": "1" } };
    const response = await transport.post(head, () => [Buffer.from("ü")]).answer;
    expect(response.headers["x-request-id"]).toBe("r1");
    expect(await readText(response.body, 1_000)).toBe('{"a":"ü"}');
    expect(requests).toMatchObject([
      { path: "/path?q=1", body: "ü", headers: { "x-test": "1", "content-length": "2" } },
    ]);
  });

  test("a JSON response is not accepted as an event stream", async () => {
    const { url } = await serve((response) => {
      response.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end("{}");
    });
    const answer = await post(url);
    expect(() => transport.events(answer, boundsOf())).toThrow("answered with application/json instead of a stream");
  });

  test("the request body is not kept in memory while the response is read", async () => {
    const { url } = await serve((response) => begin(response));
    const sent = async (): Promise<[PendingResponse, WeakRef<Uint8Array>]> => {
      let made = new WeakRef(new Uint8Array());
      const head = { url: new URL(url), headers: {} };
      const body = (): RequestContent => {
        const bytes = new Uint8Array(100_000);
        made = new WeakRef(bytes);
        return [bytes];
      };
      return [await transport.post(head, body).answer, made];
    };
    const [response, body] = await sent();
    const events = transport.events(response, boundsOf());
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    await vi.waitFor(() => {
      collectGarbage();
      // Compare a boolean: a failed expectation would keep the bytes themselves in memory.
      expect(body.deref() === undefined).toBe(true);
    });
    await events.return();
  });

  test("only the first 64 KiB of an error body are read", async () => {
    const { url } = await serve((response) => {
      response.writeHead(500);
      response.write("x".repeat(50_000));
      response.end("x".repeat(5_000_000));
    });
    await expect(post(url)).rejects.toMatchObject({ status: 500, body: "x".repeat(65_536) });
  });

  test.each([
    ['{"message":"elsewhere"}', { message: "elsewhere" }],
    ["{half", "{half"],
    ["<html>", "<html>"],
    ["", ""],
  ])("the error body %s is reported parsed where it is JSON", async (sent, body) => {
    const { url } = await serve((response) => void response.writeHead(429, { "retry-after": "7" }).end(sent));
    await expect(post(url)).rejects.toMatchObject({ name: "AnswerError", status: 429, body, retryAfter: "7" });
  });

  test.each([301, 302, 303, 307, 308])("a redirect with %i is not followed", async (status) => {
    const other = await serve((response) => void response.end());
    const { url } = await serve((response) => void response.writeHead(status, { location: other.url }).end());
    const failure = {
      code: "invalid_request",
      retryable: false,
      message: expect.stringContaining(`to 127.0.0.1:${other.port}`),
    };
    await expect(post(url)).rejects.toMatchObject({ failure });
    expect(other.requests).toEqual([]);
  });

  test("a server that does not complete the TLS handshake times out", async () => {
    const server = createTcpServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    server.on("connection", (socket) => onTestFinished(() => void socket.destroy()));
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const impatient = createTransport({}, { connectTimeoutMs: 50 });
    await expect(post(`https://127.0.0.1:${port}/`, impatient)).rejects.toMatchObject({
      failure: { code: "timeout", message: "cannot connect to 127.0.0.1 within 0.1 s", retryable: true },
    });
  });

  test("a refused connection rejects with the system's error code", async () => {
    await expect(post("http://127.0.0.1:1/")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

describe("events", () => {
  test("are read as the server-sent events standard says", async () => {
    const { url } = await serve(
      streaming(
        "\ufeffdata: bom\n\n",
        ": comment\n\nevent: named\r\ndata:no space\r\nid: 7\r\nretry: 1\r\nother: x\r\n\r\n",
        "data: one\ndata:  two\ndata\n\n",
        "event: without data\n\ndata\n\ndata: cr\r\r",
        "data: [last]\n\n",
        "data: unfinished",
      ),
    );
    expect(await read(url)).toEqual([
      data("bom"),
      { event: "named", data: "no space" },
      data("one\n two\n"),
      data("cr"),
      data("[last]"),
    ]);
  });

  test.each([
    ["data: cr\r\r", ["cr"]],
    ["data: crlf\r\n\r", ["crlf"]],
    ["data: unfinished\r", []],
    ["data: unfinished\r\n", []],
    ["data: unfinished\n", []],
  ])("a stream that ends with %j has the events %j", async (text, expected) => {
    const { url } = await serve(streaming(text));
    expect(await read(url)).toEqual(expected.map(data));
  });

  test("are the same however the bytes are split", async () => {
    const recorded = Buffer.from(
      '\ufeffevent: a\r\ndata: {"x":"äö€😀"}\r\n\r\n: ping\n\ndata:1\ndata: 2\n\ndata: 😀\n\n',
    );
    let pieces: Uint8Array[] = [];
    const { url } = await serve((...args) => streaming(...pieces)(...args));
    const whole = [{ event: "a", data: '{"x":"äö€😀"}' }, data("1\n2"), data("😀")];
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(recorded.length), { maxLength: 12 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), recorded.length];
        pieces = at.slice(1).map((end, index) => recorded.subarray(at[index], end));
        expect(await read(url)).toEqual(whole);
      }),
      { numRuns: 60 },
    );
    pieces = Array.from(recorded, (_, index) => recorded.subarray(index, index + 1));
    expect(await read(url)).toEqual(whole);
  });

  test("with invalid UTF-8 have replacement characters", async () => {
    const { url } = await serve(streaming("data: a", new Uint8Array([0xff, 0xfe]), "b\n\n"));
    expect(await read(url)).toEqual([data("a\ufffd\ufffdb")]);
  });

  test("before a connection reset are returned, then the failure", async () => {
    const { url } = await serve((response) => {
      begin(response, "data: 1\n\ndata: ha");
      response.on("close", () => undefined);
      void setImmediate().then(() => response.socket?.resetAndDestroy());
    });
    const answer = await post(url);
    const events = transport.events(answer, boundsOf())[Symbol.asyncIterator]();
    expect(await events.next()).toEqual({ done: false, value: data("1") });
    await expect(events.next()).rejects.toMatchObject({
      failure: { code: "network", message: "the connection was lost during the answer", retryable: true },
    });
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  test("that stop arriving time out, although pings continue", async () => {
    const { url } = await serve((response) => {
      begin(response, "data: 1\n\n");
      const timer = setInterval(() => response.write(": ping\n\n"), 5);
      response.on("close", () => clearInterval(timer));
    });
    await expect(read(url, { idleMs: 100 })).rejects.toMatchObject({
      failure: { code: "timeout", message: "no data received for 0.1 s", retryable: true },
    });
  });

  test("do not time out while the reader itself is busy", async () => {
    const answers: ServerResponse[] = [];
    const { url } = await serve((response) => {
      begin(response, "data: 1\n\n");
      answers.push(response);
    });
    const answer = await post(url);
    const seen: ServerEvent[] = [];
    for await (const event of transport.events(answer, boundsOf({ idleMs: 60 }))) {
      seen.push(event);
      if (seen.length === 1) {
        for (const begun = performance.now(); performance.now() - begun < 100;) await setImmediate();
        answers[0]?.end(dataOf("2"));
      }
    }
    expect(seen).toEqual([data("1"), data("2")]);
  });

  test("longer than the limit are refused, with bounded memory", async () => {
    const { url, open } = await serve(async (response) => {
      begin(response, "data: 1\n\ndata: ");
      for (let sent = 0; sent < 100 && !response.destroyed; sent += 1) {
        if (!response.write("x".repeat(1_000_000)))
          await Promise.race([once(response, "drain"), once(response, "close")]);
      }
    });
    const before = process.memoryUsage.rss();
    await expect(read(url, { maxEventBytes: 8_000_000 })).rejects.toMatchObject({
      failure: { code: "bad_message", message: "an event is longer than 8000000 bytes", retryable: false },
    });
    expect(process.memoryUsage.rss() - before).toBeLessThan(80_000_000);
    await vi.waitFor(() => expect(open.size).toBe(0));
  });

  test("in gzip are read, and a truncated body is a network failure", async () => {
    const packed = gzipSync("data: 1\n\ndata: 2\n\n");
    let bytes = packed.length;
    const { url } = await serve((response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      response.end(packed.subarray(0, bytes));
    });
    expect(await read(url)).toEqual([data("1"), data("2")]);
    bytes -= 6;
    await expect(read(url)).rejects.toMatchObject({ failure: { code: "network", retryable: true } });
  });

  test("stay in the socket while nobody reads them", async () => {
    let written = 0;
    const { url } = await serve(async (response) => {
      begin(response);
      for (; written < 2_000 && !response.destroyed; written += 1) {
        if (!response.write(dataOf("x".repeat(20_000)))) await once(response, "drain");
      }
      response.end();
    });
    const answer = await post(url);
    let count = 0;
    let writtenUnread = 0;
    for await (const { data: text } of transport.events(answer, boundsOf())) {
      expect(text.length).toBe(20_000);
      // Long enough for a server without backpressure to have sent everything.
      if (count === 0) for (let turn = 0; turn < 2_000; turn += 1) await setImmediate();
      if (count === 0) writtenUnread = written;
      count += 1;
    }
    expect(writtenUnread).toBeLessThan(1_500);
    expect(count).toBe(2_000);
  });
});

describe("connections", () => {
  test("a cancelled request closes its connection at once, before and during the response", async () => {
    const { url, open } = await serve((response, { path }) => {
      if (path === "/stream") begin(response, "data: 1\n\n");
    });
    const waiting = startPost(`${url}/silent`);
    await vi.waitFor(() => expect(open.size).toBe(1));
    waiting.cancel(new Error("enough"));
    await expect(waiting.answer).rejects.toThrow("enough");
    await vi.waitFor(() => expect(open.size).toBe(0));

    const streamed = startPost(`${url}/stream`);
    const events = transport.events(await streamed.answer, boundsOf());
    expect(await events.next()).toEqual({ done: false, value: data("1") });
    streamed.cancel(new Error("enough"));
    await expect(events.next()).rejects.toMatchObject({ failure: { code: "network" } });
    await vi.waitFor(() => expect(open.size).toBe(0));
  });

  test("a request that is cancelled while a text is read closes its connection at once", async () => {
    const { url, open } = await serve((response) => void response.writeHead(200).write("{"));
    const sent = startPost(url);
    const { body } = await sent.answer;
    const text = readText(body, 1_000);
    sent.cancel(new Error("enough"));
    await expect(text).rejects.toThrow(/aborted|enough/);
    await vi.waitFor(() => expect(open.size).toBe(0));
  });

  test("a hundred requests reuse their connections", async () => {
    const server = await serve(streaming("data: 1\n\n", "data: [DONE]\n\n"));
    for (let count = 0; count < 100; count += 1) {
      const answer = await post(server.url);
      for await (const event of transport.events(answer, boundsOf())) if (event.data === "[DONE]") break;
    }
    expect(server.requests).toHaveLength(100);
    // Reading stops before the end, so a request may start before the connection is free again.
    expect(server.connections).toBeLessThanOrEqual(3);
  });

  test("an endless stream is closed when its reader stops", async () => {
    const server = await serve((response) => {
      begin(response);
      const timer = setInterval(() => response.write("data: 1\n\n"), 1);
      response.on("close", () => clearInterval(timer));
    });
    const answer = await post(server.url);
    for await (const event of transport.events(answer, boundsOf())) if (event.data === "1") break;
    await vi.waitFor(() => expect(server.open.size).toBe(0));
  });

  test("a request on a connection the server has closed is sent on a new one", async () => {
    const server = await serve((response) => {
      const { socket } = response;
      response.writeHead(200, { "content-type": "application/json" }).end("{}", () => {
        // No Connection: close header announces this: the client finds out when it sends.
        socket?.once("data", () => socket.resetAndDestroy());
      });
    });
    for (let count = 0; count < 3; count += 1) {
      expect(await readText((await post(server.url)).body, 1_000)).toBe("{}");
    }
    expect(server.connections).toBeGreaterThan(1);
  });
});

describe("through a proxy", () => {
  test("events are read, also in gzip", async () => {
    const proxy = await startProxy();
    const proxied = createTransport({ HTTP_PROXY: proxy.url });
    const server = await serve(streaming("data: 1\n\n", "data: 2\n\n"));
    expect(await read(server.url, {}, proxied)).toEqual([data("1"), data("2")]);
    expect(server.requests).toMatchObject([{ body: "{}" }]);
    const packing = await serve((response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      response.end(gzipSync("data: 3\n\n"));
    });
    expect(await read(packing.url, {}, proxied)).toEqual([data("3")]);
    expect(proxy.asked).toEqual([server, packing].map(({ port }) => `127.0.0.1:${port}`));
  });

  test("errors are reported and redirects are not followed", async () => {
    const proxied = createTransport({ HTTP_PROXY: (await startProxy()).url });
    const other = await serve(streaming("data: 1\n\n"));
    const redirecting = await serve((response) => void response.writeHead(302, { location: other.url }).end());
    await expect(post(redirecting.url, proxied)).rejects.toMatchObject({ failure: { code: "invalid_request" } });
    expect(other.requests).toEqual([]);
    const failing = await serve((failed) => void failed.writeHead(503, { "retry-after": "2" }).end('{"error":"busy"}'));
    const sent = post(failing.url, proxied);
    await expect(sent).rejects.toMatchObject({ status: 503, body: { error: "busy" }, retryAfter: "2" });
  });

  test("a cancelled request closes its connection at once, before and during the response", async () => {
    const proxied = createTransport({ HTTP_PROXY: (await startProxy()).url });
    const { url, open } = await serve((response, { path }) => {
      if (path === "/stream") begin(response, "data: 1\n\n");
    });
    const waiting = startPost(`${url}/silent`, proxied);
    await vi.waitFor(() => expect(open.size).toBe(1));
    waiting.cancel(new Error("enough"));
    await expect(waiting.answer).rejects.toThrow("enough");
    await vi.waitFor(() => expect(open.size).toBe(0));

    const streamed = startPost(`${url}/stream`, proxied);
    const events = proxied.events(await streamed.answer, boundsOf());
    expect(await events.next()).toEqual({ done: false, value: data("1") });
    streamed.cancel(new Error("enough"));
    await expect(events.next()).rejects.toMatchObject({ failure: { code: "network" } });
    await vi.waitFor(() => expect(open.size).toBe(0));
  });

  test("hosts in NO_PROXY are reached directly", async () => {
    const proxied = createTransport({ HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "127.0.0.1" });
    const server = await serve(streaming("data: 1\n\n"));
    expect(await read(server.url, {}, proxied)).toEqual([data("1")]);
    const refused = createTransport({ HTTP_PROXY: "http://127.0.0.1:1" });
    await expect(post(server.url, refused)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

test("close ends the idle connections of the transport", async () => {
  const server = await serve(streaming("data: 1\n\n"));
  const own = createTransport({});
  const answer = await post(server.url, own);
  for await (const _ of own.events(answer, boundsOf()));
  const [socket] = server.open;
  if (socket === undefined) throw new Error("the connection was not kept");
  const closed = once(socket, "close");
  own.close();
  await closed;
  expect(server.open.size).toBe(0);
});
