import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { CallbackServer } from "../../src/cli/commands/settings/browser-login.js";
import { type Child, Cli, type CliResult, finished, saysOn } from "../support/cli.js";
import { account, TokenIssuer } from "../support/token-issuer.js";

/** A command line that uses this issuer for ChatGPT logins. */
async function cliFor(issuer: TokenIssuer): Promise<Cli> {
  const cli = await Cli.open();
  await mkdir(cli.home, { mode: 0o700 });
  const config = {
    logins: { chatgpt: { issuer: issuer.url } },
    providers: { openai: { baseUrl: `${issuer.url}/backend-api/codex` } },
  };
  await writeFile(join(cli.home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  return cli;
}

/** A port without a listener. */
async function freePort(): Promise<number> {
  await using server = await CallbackServer.open({ port: 0, state: "x" });
  return server.port;
}

interface Waiting {
  readonly child: Child;
  readonly ended: Promise<CliResult>;
  /** The address to open in the browser. */
  readonly url: URL;
  readonly callback: URL;
}

async function startLogin(cli: Cli, args: readonly string[] = []): Promise<Waiting> {
  const child = cli.start(["login", "--port", String(await freePort()), ...args]);
  child.stdin.end();
  await saysOn(child.stderr, "originator=cody\n");
  const firstOutput: Buffer = child.stderr.read();
  child.stderr.unshift(firstOutput);
  const url = new URL(/http\S+/.exec(firstOutput.toString())?.[0] ?? "");
  return { child, ended: finished(child), url, callback: new URL(url.searchParams.get("redirect_uri") ?? "") };
}

/** Requests a page as the browser does after the issuer; `localhost` is resolved by hand, so that the Host header can differ. */
async function visitCallback(
  callback: URL,
  query: Record<string, string>,
  host = callback.host,
): Promise<{ status: number | undefined; page: string }> {
  const path = `${callback.pathname}?${new URLSearchParams(query).toString()}`;
  return await new Promise((resolve, reject) => {
    const request = get({ host: "127.0.0.1", port: callback.port, path, headers: { host } }, (response) => {
      text(response).then((page) => resolve({ status: response.statusCode, page }), reject);
    });
    request.on("error", reject);
  });
}

/** The issuer approves the login and redirects the browser with these parameters. */
function approveLogin(issuer: TokenIssuer, url: URL): { state: string; code: string } {
  const code = `code-${issuer.codes.size + 1}-canary`;
  issuer.codes.set(code, url.searchParams.get("code_challenge") ?? "");
  return { state: url.searchParams.get("state") ?? "", code };
}

test("a browser login is stored readable by its owner only, used, shown and removed by logout", async () => {
  const issuer = await TokenIssuer.open();
  issuer.nowMs = Date.now();
  const cli = await cliFor(issuer);
  const { url, callback, ended } = await startLogin(cli);
  expect(url.href.startsWith(`${issuer.url}/oauth/authorize?`)).toBe(true);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    response_type: "code",
    code_challenge_method: "S256",
    scope: expect.stringContaining("offline_access"),
    redirect_uri: expect.stringMatching(/^http:\/\/localhost:\d+\/auth\/callback$/),
  });
  expect(await visitCallback(callback, approveLogin(issuer, url))).toEqual({
    status: 200,
    page: expect.stringContaining("You are logged in"),
  });
  expect(await ended).toMatchObject({ code: 0, stdout: `✓ Logged in as ${account.email}\n` });

  const path = join(cli.home, "tokens.json");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const { accessToken, refreshToken } = JSON.parse(await readFile(path, "utf8")).logins.chatgpt;
  expect(await cli.run(["chat", "Hi"])).toMatchObject({ code: 0, stdout: "Hello\n" });
  const status = await cli.run(["auth", "status"]);
  expect(status).toMatchObject({ code: 0, stderr: "" });
  expect(status.stdout).toMatch(
    /^Method: chatgpt-oauth \(openai\)\nAccount: alice@example\.com \(plus\)\nToken expires: .* \(renewed automatically\)\nSource: .*tokens\.json\n$/,
  );
  const json = await cli.run(["auth", "status", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ method: "chatgpt-oauth" });
  for (const secret of [accessToken, refreshToken, "canary"]) {
    expect(status.stdout + json.stdout).not.toContain(secret);
    for (const name of await readdir(cli.conversations)) {
      expect(await readFile(join(cli.conversations, name), "utf8")).not.toContain(secret);
    }
  }
  expect(await cli.run(["logout"])).toMatchObject({ code: 0, stdout: "✓ Logged out: cody's tokens were deleted\n" });
  await expect(stat(path)).rejects.toThrow("ENOENT");
  expect((await cli.run(["auth"])).code).toBe(1);
  expect((await cli.run(["logout"])).stdout).toBe("✓ Not logged in: there were no tokens to delete\n");
});

test.each(["//", "//[", "http://", "/\\\\"])(
  "a request for %j is answered, and the login keeps waiting",
  async (path) => {
    await using server = await CallbackServer.open({ port: 0, state: "x" });
    const { port } = server;
    const status = await new Promise((resolve, reject) => {
      get({ host: "127.0.0.1", port, path, headers: { host: `localhost:${port}` }, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on("error", reject);
    });
    expect(status).toBe(404);
    const good = await visitCallback(new URL(server.redirectUri), { state: "x", error: "access_denied" });
    expect(good.status).toBe(400);
    await expect(server.visit(1_000, new AbortController().signal)).rejects.toThrow("access_denied");
  },
);

describe("the browser callback", () => {
  test("with another state, path or host is ignored, and the login keeps waiting", async () => {
    const issuer = await TokenIssuer.open();
    const { url, callback, ended } = await startLogin(await cliFor(issuer));
    const good = approveLogin(issuer, url);
    const elsewhere = new URL("/other", callback);
    expect((await visitCallback(callback, { ...good, state: "wrong" })).status).toBe(400);
    expect((await visitCallback(callback, { code: good.code })).status).toBe(400);
    expect((await visitCallback(callback, good, "evil.example")).status).toBe(403);
    expect((await visitCallback(elsewhere, good)).status).toBe(404);
    expect(issuer.requests).toEqual([]);
    expect((await visitCallback(callback, good)).status).toBe(200);
    expect(await ended).toMatchObject({ code: 0 });
  });

  test.each([
    [{ error: "access_denied" }, "access_denied"],
    [{ error: '<script>"canary"' }, "no authorization code received"],
    [{}, "no authorization code received"],
  ])("with %j ends the login and stores nothing", async (query, reason) => {
    const issuer = await TokenIssuer.open();
    const cli = await cliFor(issuer);
    const { url, callback, ended } = await startLogin(cli);
    const { state } = approveLogin(issuer, url);
    const { status, page } = await visitCallback(callback, { state, ...query });
    expect({ status, page }).toEqual({ status: 400, page: expect.not.stringContaining("canary") });
    const { code, stderr } = await ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`\n✗ The login failed: ${reason}\n$`)),
    });
    expect(await readdir(cli.home)).toEqual(["config.json"]);
  });

  test("is accepted only once", async () => {
    await using server = await CallbackServer.open({ port: 0, state: "the-state" });
    const callback = new URL(server.redirectUri);
    const first = visitCallback(callback, { state: "the-state", code: "the-code" });
    const visited = await server.visit(60_000, new AbortController().signal);
    expect((await visitCallback(callback, { state: "the-state", code: "another" })).status).toBe(409);
    visited.answer("done");
    expect([visited.code, (await first).status]).toEqual(["the-code", 200]);
    expect((await visitCallback(callback, { state: "the-state", code: "another" })).status).toBe(409);
  });

  test("with a code the issuer rejects or cannot exchange reports the error", async () => {
    const issuer = await TokenIssuer.open();
    const cli = await cliFor(issuer);
    const refused = await startLogin(cli);
    const { state } = approveLogin(issuer, refused.url);
    expect((await visitCallback(refused.callback, { state, code: "canary-of-nobody" })).status).toBe(400);
    expect((await refused.ended).stderr).toMatch(/\n✗ The login failed: invalid_grant\n$/);
    issuer.fault = (response, sent) => response.writeHead(500).end(JSON.stringify({ error: sent["code"] }));
    const broken = await startLogin(cli);
    await visitCallback(broken.callback, approveLogin(issuer, broken.url));
    const { code, stderr } = await broken.ended;
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("the server answered 500") });
    expect(await readdir(cli.home)).toEqual(["config.json"]);
  });
});

test("a login waits until its deadline at most, and Ctrl-C cancels it", async () => {
  await using server = await CallbackServer.open({ port: 0, state: "x" });
  await expect(server.visit(5, new AbortController().signal)).rejects.toThrow("No login within 0.005 s");
  const { child, ended } = await startLogin(await cliFor(await TokenIssuer.open()));
  child.kill("SIGINT");
  expect(await ended).toMatchObject({ code: 130 });
});

test("a login reports that its port is in use", async () => {
  await using server = await CallbackServer.open({ port: 0, state: "x" });
  const cli = await Cli.open();
  expect(await cli.run(["login", "--port", String(server.port)])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Port ${server.port} is in use`),
  });
});
