import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createFetch } from "../../src/providers/http-fetch.js";
import { bundleModule } from "../support/bundle.js";

const certificate = fileURLToPath(new URL("../fixtures/tls/certificate.pem", import.meta.url));
const key = fileURLToPath(new URL("../fixtures/tls/key.pem", import.meta.url));
const hello: RequestListener = (_request, response) => void response.end("hello");

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function tlsServer(): Promise<string> {
  return listen(createTlsServer({ cert: await readFile(certificate), key: await readFile(key) }, hello));
}

/** A real CONNECT proxy that remembers where it was asked to connect to. */
async function startProxy(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on("connect", (request, client, head) => {
    asked.push(request.url ?? "");
    const { hostname, port } = new URL(`http://${request.url}`);
    const target = connect(Number(port), hostname, () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      target.write(head);
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("error", () => target.destroy());
    onTestFinished(() => {
      client.destroy();
      target.destroy();
    });
  });
  return { url: `http://${await listen(proxy)}`, asked };
}

test("without a proxy it is Node's own fetch", () => {
  expect(createFetch({ NO_PROXY: "example.com", HTTPS_PROXY: "" })).toBe(fetch);
});

test.each(["HTTP_PROXY", "http_proxy"])("%s is where http requests go through", async (name) => {
  const server = await listen(createServer(hello));
  const proxy = await startProxy();
  const response = await createFetch({ [name]: proxy.url })(`http://${server}/`);
  expect(await response.text()).toBe("hello");
  expect(proxy.asked).toEqual([server]);
});

test("NO_PROXY names the hosts that are reached without it", async () => {
  const server = await listen(createServer(hello));
  const proxy = await startProxy();
  const direct = createFetch({ HTTP_PROXY: proxy.url, NO_PROXY: "example.com,127.0.0.1" });
  expect(await (await direct(`http://${server}/`)).text()).toBe("hello");
  expect(proxy.asked).toEqual([]);
});

test("method, headers, body and signal reach the other side of a proxy", async () => {
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

test("a proxy that is not there is a failed request, not a direct one", async () => {
  const server = await listen(createServer(hello));
  await expect(createFetch({ HTTP_PROXY: "http://127.0.0.1:1" })(`http://${server}/`)).rejects.toThrow("fetch failed");
});

/** Fetches in a child process, because NODE_EXTRA_CA_CERTS is read when Node starts. */
async function fetchInChild(url: string, env: Record<string, string>): Promise<string> {
  await using bundle = await bundleModule("src/providers/http-fetch.ts");
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

test("a certificate nobody vouches for is refused", async () => {
  expect(await fetchInChild(`https://${await tlsServer()}/`, {})).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
});

test("NODE_EXTRA_CA_CERTS makes a company's certificate good", async () => {
  const url = `https://${await tlsServer()}/`;
  expect(await fetchInChild(url, { NODE_EXTRA_CA_CERTS: certificate })).toBe("hello");
});

test("NODE_EXTRA_CA_CERTS holds through HTTPS_PROXY too", async () => {
  const server = await tlsServer();
  const proxy = await startProxy();
  const env = { NODE_EXTRA_CA_CERTS: certificate, HTTPS_PROXY: proxy.url };
  expect(await fetchInChild(`https://${server}/`, env)).toBe("hello");
  expect(proxy.asked).toEqual([server]);
});
