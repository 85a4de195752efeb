import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { account, type TokenFault, TokenIssuer } from "../support/token-issuer.js";

interface Shown {
  readonly method: string | null;
  readonly methods: readonly { readonly method: string; readonly [key: string]: unknown }[];
}

async function status(cli: Cli, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await cli.run(["auth", "status", "--json"], { env });
  const { method, methods } = JSON.parse(stdout) as Shown;
  const of = (name: string) => methods.find((each) => each.method === name);
  return { code, stderr, method, of, stdout };
}

test("auth status without a key or a login says so and exits with 1", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["auth", "status"])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("Not authenticated"),
  });
  expect(await status(cli)).toMatchObject({ code: 1, method: null });
  expect(await cli.run(["auth", "frob"])).toMatchObject({ code: 2, stderr: expect.stringContaining("'frob'") });
});

test("keys are shown by their source, never by their value", async () => {
  const cli = await Cli.open();
  await cli.run(["config", "set", "providers.openrouter.apiKey", "-"], { input: "sk-canary-configured" });
  const env = { OPENAI_API_KEY: "sk-canary-of-the-env" };
  const shown = await status(cli, env);
  expect(shown).toMatchObject({ code: 0, method: "openrouter-api-key" });
  expect(shown.of("openrouter-api-key")).toMatchObject({ available: true, source: "config.json" });
  expect(shown.of("openai-api-key")).toMatchObject({ available: true, source: "OPENAI_API_KEY", provider: "openai" });
  expect(shown.of("anthropic-api-key")).toMatchObject({ available: false, source: null });
  expect(shown.stdout).not.toContain("canary");
  await cli.run(["set-auth", "anthropic-api-key"], { env });
  expect(await cli.run(["auth"], { env })).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^Method: anthropic-api-key \(anthropic\)\n✗ ANTHROPIC_API_KEY is not set\n/),
  });
});

test("logins of other programs are shown with account, expiry and path, and are unused unless selected", async () => {
  const issuer = await TokenIssuer.open();
  const cli = await Cli.open();
  const tokens = issuer.issue();
  const path = await issuer.giveToCodex(join(cli.project, ".codex"), tokens);
  await mkdir(join(cli.project, ".claude"));
  const claude = { accessToken: "sk-ant-oat01-canary", expiresAt: 1, subscriptionType: "max" };
  await writeFile(join(cli.project, ".claude", ".credentials.json"), JSON.stringify({ claudeAiOauth: claude }));
  const before = await status(cli);
  expect(before).toMatchObject({ code: 1, method: null });
  await cli.run(["set-auth", "chatgpt-oauth"]);
  const shown = await status(cli);
  expect(shown).toMatchObject({ code: 0, method: "chatgpt-oauth", stderr: "" });
  expect(shown.of("chatgpt-oauth")).toEqual({
    method: "chatgpt-oauth",
    provider: "openai",
    available: true,
    source: path,
    account: account.email,
    plan: account.plan,
    expiresAt: new Date(issuer.nowMs + 3_600_000).toISOString(),
    renewable: true,
    problem: null,
  });
  expect(shown.of("claude-oauth")).toMatchObject({
    available: false,
    plan: "max",
    expiresAt: "1970-01-01T00:00:00.001Z",
    problem: expect.stringContaining("has expired"),
  });
  for (const secret of ["canary", tokens.access, tokens.refresh]) expect(shown.stdout).not.toContain(secret);
});

test("auth status reports a token file that cannot be trusted", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home, { mode: 0o700 });
  await writeFile(join(cli.project, "elsewhere"), "{}");
  await symlink(join(cli.project, "elsewhere"), join(cli.home, "tokens.json"));
  await cli.run(["set-auth", "chatgpt-oauth"]);
  const shown = await status(cli);
  expect([shown.code, shown.of("chatgpt-oauth")?.["problem"]]).toEqual([
    1,
    expect.stringContaining("it is a symbolic link"),
  ]);
  expect((await cli.run(["logout"])).code).toBe(0);
  expect((await status(cli)).of("chatgpt-oauth")?.["problem"]).toBe("no ChatGPT login found. Run: cody login");
});

test("no token appears in a file, a log or an output, even when servers echo it", async () => {
  const issuer = await TokenIssuer.open();
  issuer.nowMs = Date.now();
  const cli = await Cli.open();
  await mkdir(cli.home, { mode: 0o700 });
  const config = {
    auth: "chatgpt-oauth",
    logins: { chatgpt: { issuer: issuer.url } },
    providers: { openai: { baseUrl: `${issuer.url}/backend-api/codex` } },
  };
  await writeFile(join(cli.home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  await issuer.giveToCodex(join(cli.project, ".codex"));
  const env = { CODY_DEBUG: "1" };
  const outputs: string[] = [];
  const faults: (TokenFault | undefined)[] = [
    undefined,
    (response, sent) => response.writeHead(401).end(JSON.stringify({ error: sent["refresh_token"] })),
    (response, sent) => response.writeHead(302, { location: `http://x/${sent["refresh_token"]}` }).end(),
  ];
  issuer.isClosed = true;
  const run = async (args: readonly string[]): Promise<void> => {
    const { stdout, stderr } = await cli.run(args, { env });
    outputs.push(stdout, stderr);
  };
  for (const fault of faults) {
    issuer.fault = fault;
    await run(["chat", "--json", "Hi"]);
  }
  for (const command of ["compact", "auth", "doctor"]) await run([command]);
  const entries = await readdir(cli.home, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name !== "tokens.json");
  const texts = await Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), "latin1")));
  const sent = issuer.requests.map(({ headers, body }) => `${headers.authorization} ${body}`).join("\n");
  const secrets = new Set([...sent.matchAll(/Bearer (\S+)|"refresh_token":"([^"]+)"/g)].flatMap(([, a, b]) => a ?? b));
  expect(secrets.size).toBeGreaterThanOrEqual(3);
  const all = [...outputs, ...texts].join("\n");
  expect([...secrets].filter((secret) => secret !== undefined && all.includes(secret))).toEqual([]);
});
