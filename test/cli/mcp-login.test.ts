import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TokenStore } from "../../src/actors/credentials/token-store.js";
import { Cli, type CliResult, finished, saysOn } from "../support/cli.js";
import { OAuthServer } from "../support/mcp/oauth-server.js";

interface Waiting {
  readonly ended: Promise<CliResult>;
  /** The address to open in the browser. */
  readonly url: URL;
}

async function startLogin(cli: Cli): Promise<Waiting> {
  const child = cli.start(["mcp", "login", "far"]);
  child.stdin.end();
  await saysOn(child.stderr, "redirect_uri=");
  const firstOutput: Buffer = child.stderr.read();
  child.stderr.unshift(firstOutput);
  return { ended: finished(child), url: new URL(/http\S+/.exec(firstOutput.toString())?.[0] ?? "") };
}

/** Requests a page as the browser does after the issuer. */
async function visitCallback({ url }: Waiting, query: Record<string, string>): Promise<number> {
  const callback = new URL(url.searchParams.get("redirect_uri") ?? "");
  callback.search = new URLSearchParams(query).toString();
  return (await fetch(callback)).status;
}

async function loggedIn(server: OAuthServer): Promise<Cli> {
  const cli = await Cli.open();
  await cli.run(["mcp", "add", "far", "--url", server.url]);
  const store = new TokenStore(cli.home);
  await store.locked(() => store.writeMcp(server.url, server.login()));
  return cli;
}

test("mcp login and logout work and show no token", async () => {
  const server = await OAuthServer.open();
  const cli = await Cli.open();
  await cli.run(["mcp", "add", "far", "--url", server.url]);
  const before = [await cli.run(["mcp", "list"]), await cli.run(["mcp", "test", "far"])] as const;
  expect(before[0].stdout).toContain("(on, config.json, not logged in)");
  expect(before[1]).toMatchObject({ code: 1, stdout: "✗ far: login required. Run: cody mcp login far\n" });
  const waiting = await startLogin(cli);
  const query = server.agree(waiting.url);
  expect(await visitCallback(waiting, { ...query, state: "of another" })).toBe(400);
  expect(await visitCallback(waiting, query)).toBe(200);
  const login = await waiting.ended;
  expect(login).toMatchObject({ code: 0, stdout: "✓ Logged in to far\n" });
  const file = join(cli.home, "tokens.json");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const after = [
    await cli.run(["mcp", "list", "--json"]),
    await cli.run(["mcp", "test", "far"]),
    await cli.run(["mcp", "logout", "far"]),
    await cli.run(["mcp", "test", "far"]),
  ] as const;
  expect(JSON.parse(after[0].stdout)).toMatchObject([{ name: "far", loggedIn: true }]);
  expect(after[1]).toMatchObject({ code: 0, stdout: expect.stringContaining("✓ far: 1 tool") });
  expect(after[2]).toMatchObject({ code: 0, stdout: "✓ Logged out of far\n" });
  expect(after[3]).toMatchObject({ code: 1, stdout: expect.stringContaining("cody mcp login far") });
  expect(await readFile(file, "utf8")).not.toContain("access-");
  const printed = [...before, login, ...after].map(({ stdout, stderr }) => stdout + stderr).join("");
  for (const secret of server.given) expect(printed).not.toContain(secret);
});

test("several processes refresh a login once", async () => {
  const server = await OAuthServer.open();
  const cli = await loggedIn(server);
  server.endAccess();
  const runs = await Promise.all([1, 2, 3].map(() => cli.run(["mcp", "test", "far"])));
  expect(runs.map(({ code, stdout }) => [code, stdout.split("\n")[0]])).toEqual(
    Array.from({ length: 3 }, () => [0, "✓ far: 1 tool, 0 resources, 0 prompts"]),
  );
  expect([server.refreshes, server.reuses]).toEqual([1, 0]);
});

test("a revoked login is reported and not deleted", async () => {
  const server = await OAuthServer.open();
  const cli = await loggedIn(server);
  server.endAccess();
  server.isRevoked = true;
  const tokens = await readFile(join(cli.home, "tokens.json"), "utf8");
  const result = await cli.run(["mcp", "test", "far"]);
  expect(result).toMatchObject({
    code: 1,
    stdout: "✗ far: its login is no longer valid (invalid_grant). Run: cody mcp login far\n",
  });
  expect(await readFile(join(cli.home, "tokens.json"), "utf8")).toBe(tokens);
  for (const secret of server.given) expect(result.stdout + result.stderr).not.toContain(secret);
});

test("a login is bound to its server address and not sent to another", async () => {
  const [server, other] = [await OAuthServer.open(), await OAuthServer.open()];
  const cli = await loggedIn(server);
  await cli.run(["mcp", "add", "far", "--replace", "--url", other.url]);
  expect((await cli.run(["mcp", "list"])).stdout).toContain("not logged in");
  expect(await cli.run(["mcp", "test", "far"])).toMatchObject({ code: 1 });
  expect(other.requests.flatMap(({ headers }) => headers.authorization ?? [])).toEqual([]);
});

test.each([
  [(server: OAuthServer) => void (server.issuer = "http://192.0.2.1"), "which is not https"],
  [(server: OAuthServer) => void (server.issuer = server.origin.replace("127.0.0.1", "localhost")), "failed:"],
])("a server that redirects its login to another host is not followed", async (lead, message) => {
  const server = await OAuthServer.open();
  lead(server);
  const cli = await Cli.open();
  await cli.run(["mcp", "add", "far", "--url", server.url]);
  const result = await cli.run(["mcp", "login", "far"]);
  expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
});

test("mcp login rejects a command server and a server with a configured token", async () => {
  const cli = await Cli.open();
  await cli.run(["mcp", "add", "near", "--", "true"]);
  await cli.run(["mcp", "add", "far", "--url", "https://far.example/mcp", "--bearer-token-env-var", "FAR_TOKEN"]);
  expect(await cli.run(["mcp", "login", "near"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("command"),
  });
  expect(await cli.run(["mcp", "login", "far"])).toMatchObject({ code: 1, stderr: expect.stringContaining("token") });
  expect(await cli.run(["mcp", "login", "none"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("MCP server 'none' not found"),
  });
  expect((await cli.run(["mcp", "list"])).stdout).not.toContain("logged in");
});
