import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createFetch, proxyVariables } from "../../../src/providers/transport/http-fetch.js";
import { bundleModule } from "../../support/bundle.js";
import { listen, startProxy } from "../proxy.js";

const certificate = fileURLToPath(new URL("../../fixtures/tls/certificate.pem", import.meta.url));
const key = fileURLToPath(new URL("../../fixtures/tls/key.pem", import.meta.url));
const hello: RequestListener = (_request, response) => void response.end("hello");

async function tlsServer(): Promise<string> {
  return listen(createTlsServer({ cert: await readFile(certificate), key: await readFile(key) }, hello));
}

test("without a proxy createFetch returns Node's own fetch", () => {
  expect(createFetch({ NO_PROXY: "example.com", HTTPS_PROXY: "" })).toBe(fetch);
});

test.each(["HTTP_PROXY", "http_proxy"])("http requests go through the proxy in %s", async (name) => {
  const server = await listen(createServer(hello));
  const proxy = await startProxy();
  const response = await createFetch({ [name]: proxy.url })(`http://${server}/`);
  expect(await response.text()).toBe("hello");
  expect(proxy.asked).toEqual([server]);
});

test("hosts in NO_PROXY are reached directly", async () => {
  const server = await listen(createServer(hello));
  const proxy = await startProxy();
  const direct = createFetch({ HTTP_PROXY: proxy.url, NO_PROXY: "example.com,127.0.0.1" });
  expect(await (await direct(`http://${server}/`)).text()).toBe("hello");
  expect(proxy.asked).toEqual([]);
});

test("method, headers, body and signal work through a proxy", async () => {
  const server = await listen(
    createServer((request, response) => {
      request.setEncoding("utf8");
      request.on("data", (body: string) =>
        response.end(JSON.stringify([request.method, request.headers["x-test"], body])),
      );
    }),
  );
  const proxied = createFetch({ HTTP_PROXY: (await startProxy()).url });
  const init = { method: "POST", headers: { "x-test": "1" }, body: "text" };
  expect(await (await proxied(`http://${server}/`, init)).json()).toEqual(["POST", "1", "text"]);
  await expect(proxied(`http://${server}/`, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
});

test("an unreachable proxy fails the request instead of connecting directly", async () => {
  const server = await listen(createServer(hello));
  await expect(createFetch({ HTTP_PROXY: "http://127.0.0.1:1" })(`http://${server}/`)).rejects.toThrow("fetch failed");
});

/** The error code of a request through this proxy. */
async function codeThrough(proxy: string, timeoutMs: number): Promise<unknown> {
  const proxied = createFetch({ HTTP_PROXY: `http://${proxy}` }, timeoutMs);
  const cause: unknown = await proxied("http://127.0.0.1:45999/").catch((error: Error) => error.cause);
  return (cause as { code?: unknown }).code;
}

test("a proxy that closes the connection or stays silent fails the request after one attempt", async () => {
  const sockets: Socket[] = [];
  const closing = createServer().on("connect", (_request, socket: Socket) => void sockets.push(socket.end()));
  const silent = createServer().on("connect", (_request, socket: Socket) => void sockets.push(socket));
  const [ended, waiting] = [await listen(closing), await listen(silent)];
  expect(await codeThrough(ended, 60_000)).toBe("ECONNRESET");
  expect(await codeThrough(waiting, 100)).toBe("ETIMEDOUT");
  expect(sockets).toHaveLength(2);
  for (const socket of sockets) socket.destroy();
});

test("proxyVariables keeps only the proxy variables of an environment", () => {
  const proxies = { HTTP_PROXY: "http://a", https_proxy: "http://b", No_Proxy: "c" };
  expect(proxyVariables({ ...proxies, HTTPS_PROXY: undefined, OPENAI_API_KEY: "sk-1", PROXY: "d" })).toEqual(proxies);
});

/** Fetches in a child process, because NODE_EXTRA_CA_CERTS is read when Node starts. */
async function fetchInChild(url: string, env: Record<string, string>): Promise<string> {
  await using bundle = await bundleModule("src/providers/transport/http-fetch.ts");
  const script = `
    const { createFetch } = await import(process.argv[1]);
    const text = (response) => response.text();
    const answer = await createFetch(process.env)(process.argv[2]).then(text, (error) => error.cause.code);
    process.stdout.write(answer, () => process.exit());
  `;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script, bundle.file, url], { env });
  return stdout;
}

test("a self-signed certificate is refused", async () => {
  expect(await fetchInChild(`https://${await tlsServer()}/`, {})).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
});

test("a certificate in NODE_EXTRA_CA_CERTS is trusted", async () => {
  const url = `https://${await tlsServer()}/`;
  expect(await fetchInChild(url, { NODE_EXTRA_CA_CERTS: certificate })).toBe("hello");
});

test("a certificate in NODE_EXTRA_CA_CERTS is trusted through HTTPS_PROXY", async () => {
  const server = await tlsServer();
  const proxy = await startProxy();
  const env = { NODE_EXTRA_CA_CERTS: certificate, HTTPS_PROXY: proxy.url };
  expect(await fetchInChild(`https://${server}/`, env)).toBe("hello");
  expect(proxy.asked).toEqual([server]);
});
