import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { encodingsOf } from "../../src/config/secrets/redact.js";
import { type Answer, begin, dataOf, type Received, serve } from "../providers/loopback.js";
import { listen } from "../providers/proxy.js";
import { argumentsOfProcesses } from "../support/process-arguments.js";
import { Cli, type CliResult, finished } from "../support/cli.js";
import { wireApis } from "../support/wire-apis.js";

/** Each secret is planted in the place its key names, and nowhere else. */
const canaries = {
  envKey: "sk-proj-canary-Env0123456789abcdef",
  otherKey: "sk-ant-api03-canary-Other0123456789",
  configKey: "canary-c0nfig-key-of-my-lab",
  flagPassword: "canary-p4ss-in-a-flag",
  variablePassword: "canary-p4ss-in-a-variable",
  filePassword: "canary-p4ss-in-the-config",
  queryKey: "canary-qu3ry-of-an-address",
  proxyPassword: "canary-pr0xy-password",
  deadProxyPassword: "canary-dead-pr0xy-password",
  redirectPassword: "canary-redir3ct-password",
  redirectQuery: "canary-redir3ct-query",
  cookie: "canary-c00kie-of-the-server",
  toolToken: "canary-t00l-token",
  hiddenToken: "canary-h1dden-from-tools",
  databasePassword: "canary-d4tabase-password",
  codexAccess: "eyJhbGciOiJub25lIn0.canaryCodexAccess.c2lnbmF0dXJl",
  codexRefresh: "rt_canary_c0dex_refresh",
  claudeAccess: "sk-ant-oat01-canary-Claude0123456789",
  claudeRefresh: "sk-ant-ort01-canary-Claude0123456789",
  promptPassword: "canary-pr0mpt-password",
  gitPassword: "canary-g1t-remote",
} as const;

/** The canaries found in these texts, with the place each was found in. */
function findCanaries(texts: ReadonlyMap<string, string>): { canary: string; where: string }[] {
  return Object.entries(canaries).flatMap(([canary, secret]) =>
    [...texts].flatMap(([where, text]) =>
      encodingsOf(secret).some((form) => text.includes(form)) ? [{ canary, where }] : [],
    ),
  );
}

/** Everything the server received with a request, as a debugging server would echo it. */
function echoOf({ path, headers, body }: Received): string {
  return `cannot POST ${path} ${JSON.stringify(headers)} ${body}`;
}

const json =
  (status: number, message: (request: Received) => string, headers = {}): Answer =>
  (response, request) =>
    void response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(JSON.stringify({ error: { message: message(request), type: "invalid_request_error" } }));

const key = ({ headers }: Received): string => String(headers["x-api-key"] ?? headers.authorization);
const badRequest = json(400, () => "that was all");

/** One failure for each turn; requests that are retried are then rejected. */
const failures: Answer[] = [
  json(401, (request) => `Incorrect API key provided: ${key(request)}`, { "set-cookie": `s=${canaries.cookie}` }),
  json(403, echoOf),
  json(400, echoOf),
  json(400, ({ body }) => body.slice(body.lastIndexOf("turn "))),
  json(404, ({ path }) => `Invalid URL (POST ${path})`),
  (response, request) => void response.writeHead(422, "No").end(echoOf(request)),
  (response, request) => void response.writeHead(500, key(request)).end(`<html>\n${echoOf(request)}</html>`),
  badRequest,
  (response, request) =>
    void response.writeHead(429, { "retry-after": "0", "x-echo": key(request) }).end(echoOf(request)),
  badRequest,
  (response, request) =>
    void response.writeHead(200, { "content-type": `text/${key(request).replace("Bearer ", "")}` }).end(),
  badRequest,
  (response, request) =>
    void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ echo: echoOf(request) })),
  badRequest,
  (response, request) => {
    begin(response, dataOf({ type: "error", error: { type: "invalid_request_error", message: echoOf(request) } }));
    response.end();
  },
  (response, request) => {
    begin(response, dataOf(`not json ${key(request)}`));
    response.end();
  },
  badRequest,
  (response) =>
    void response
      .writeHead(307, {
        location: `http://user:${canaries.redirectPassword}@127.0.0.1:1/?key=${canaries.redirectQuery}`,
      })
      .end(),
];

/** Removes the user's own messages, which may be shown to the user. */
function withoutUserMessages(stdout: string): string {
  return stdout
    .split("\n")
    .filter((line) => !/"type":"user_message"|"role":"user"/.test(line))
    .join("\n");
}

async function storedFiles(cli: Cli): Promise<Map<string, string>> {
  const entries = await readdir(cli.home, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const others = paths.filter((path) => path !== join(cli.home, "config.json"));
  return new Map(await Promise.all(others.map(async (path) => [path, await readFile(path, "latin1")] as const)));
}

async function plantCanaries(cli: Cli): Promise<void> {
  await mkdir(join(cli.project, ".git"));
  await writeFile(join(cli.project, ".git", "HEAD"), "ref: refs/heads/main\n");
  const remote = `[remote "origin"]\n\turl = https://alice:${canaries.gitPassword}@git.example/repo.git\n`;
  await writeFile(join(cli.project, ".git", "config"), remote);
  await mkdir(join(cli.project, ".codex"));
  const tokens = { access_token: canaries.codexAccess, refresh_token: canaries.codexRefresh };
  await writeFile(join(cli.project, ".codex", "auth.json"), JSON.stringify({ tokens }));
  await mkdir(join(cli.project, ".claude"));
  const claudeAiOauth = { accessToken: canaries.claudeAccess, refreshToken: canaries.claudeRefresh };
  await writeFile(join(cli.project, ".claude", ".credentials.json"), JSON.stringify({ claudeAiOauth }));
}

async function configure(cli: Cli, config: object): Promise<void> {
  await mkdir(cli.home, { mode: 0o700, recursive: true });
  await writeFile(join(cli.home, "config.json"), JSON.stringify(config), { mode: 0o600 });
}

/** A proxy that rejects the password and echoes it. */
async function refusingProxy(): Promise<string> {
  const proxy = createServer().on("connect", ({ headers }, socket: Socket) => {
    const body = `not with ${headers["proxy-authorization"]}`;
    socket.end(`HTTP/1.1 407 ${body}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  });
  return await listen(proxy);
}

const secretVariables = {
  DEPLOY_TOKEN: canaries.toolToken,
  HIDDEN_TOKEN: canaries.hiddenToken,
  DATABASE_URL: `postgres://app:${canaries.databasePassword}@db.example/x`,
  CODY_DEBUG: "1",
};

/** The flags that choose the wire API, the prefix of its variables, and the keys of both vendors. */
function flagsAndKeysFor({ provider, api, model }: (typeof wireApis)[number]) {
  const [own, other] = provider === "openai" ? ["OPENAI", "ANTHROPIC"] : ["ANTHROPIC", "OPENAI"];
  const keys = { [`${own}_API_KEY`]: canaries.envKey, [`${other}_API_KEY`]: canaries.otherKey, ...secretVariables };
  return { own, keys, flags: ["--provider", provider, "--api", api, "--model", model] };
}

describe.each(wireApis)("over $api", (spoken) => {
  const { own, keys, flags } = flagsAndKeysFor(spoken);

  test("no failed request leaks a secret", async () => {
    const cli = await Cli.open();
    await plantCanaries(cli);
    await configure(cli, { toolEnv: ["DEPLOY_TOKEN"], providers: { "my-lab": { apiKey: canaries.configKey } } });
    const left = failures.values();
    const server = await serve((...args) => (left.next().value ?? badRequest)(...args));
    const baseUrl = `${server.url}/v1`;
    const texts = new Map<string, string>();
    const note = (what: string, { stdout, stderr }: CliResult): void => {
      texts.set(`${what}: stdout`, withoutUserMessages(stdout)).set(`${what}: stderr`, stderr);
    };
    const run = async (what: string, args: readonly string[], env: Record<string, string> = {}, input?: string) =>
      note(what, await cli.run(args, { env: { ...keys, ...env }, ...(input === undefined ? {} : { input }) }));

    const lines = failures.map(
      (_, index) => `turn ${index}: password=${canaries.promptPassword} and ${canaries.toolToken}`,
    );
    await run("turns", ["--json", ...flags, "--base-url", baseUrl], {}, `${lines.join("\n")}\n`);
    await run("a turn", ["chat", "hello", ...flags, "--base-url", baseUrl]);
    await run("a summary", ["compact", ...flags, "--base-url", baseUrl]);
    await run("a key of the configuration", [
      "chat",
      "hello",
      "--provider",
      "my-lab",
      "--api",
      spoken.api,
      "--model",
      "m",
      "--base-url",
      baseUrl,
    ]);
    const inQuery = `${server.url}/v1?api_key=${canaries.queryKey}`;
    await run("a key in an address", ["chat", "hello", "--json", ...flags], { [`${own}_BASE_URL`]: inQuery });
    const address = (password: string) => `http://user:${password}@${server.url.slice("http://".length)}/v1`;
    await run("a password in a flag", ["chat", "hello", ...flags, "--base-url", address(canaries.flagPassword)]);
    await run("a password in a variable", ["chat", "hello", ...flags], {
      [`${own}_BASE_URL`]: address(canaries.variablePassword),
    });
    await run("a password for good", ["config", "set", "baseUrl", address(canaries.filePassword)]);
    for (const args of [["doctor"], ["config", "--json"]]) await run(args.join(" "), args);
    await configure(cli, { baseUrl: address(canaries.filePassword) });
    await run("a password in the file", ["chat", "hello", ...flags]);

    for (const [path, text] of await storedFiles(cli)) texts.set(path, text);
    expect(findCanaries(texts)).toEqual([]);
    expect(JSON.stringify(server.requests)).toContain(canaries.envKey);
    expect(JSON.stringify(server.requests)).toContain(canaries.configKey);
    expect(server.requests.length).toBeGreaterThan(failures.length);
    expect([...texts.keys()].some((path) => path.endsWith(".jsonl"))).toBe(true);
    expect([...texts.keys()].some((path) => path.endsWith(".log"))).toBe(true);
  });

  test("no process shows a secret in its arguments while it waits for an answer", async () => {
    const cli = await Cli.open();
    const server = await serve((response) => begin(response));
    const child = cli.start(["chat", "hello", ...flags, "--base-url", `${server.url}/v1`], { env: keys });
    child.stdin.end();
    await expect.poll(() => server.requests.length, { timeout: 30_000 }).toBe(1);
    const listed = await argumentsOfProcesses();
    child.kill("SIGINT");
    await finished(child);
    expect(listed).toContain("--base-url");
    expect(findCanaries(new Map([["the list of processes", listed]]))).toEqual([]);
  });
});

// In parallel, because cody waits several seconds before it gives up on a proxy.
test("no failing proxy leaks a secret, over any API", async () => {
  const cli = await Cli.open();
  const server = await serve(badRequest);
  const proxies = [
    { proxy: `http://user:${canaries.proxyPassword}@${await refusingProxy()}`, format: ["--json"] },
    { proxy: `http://user:${canaries.deadProxyPassword}@127.0.0.1:1`, format: [] },
  ];
  const runs = wireApis.flatMap((spoken) => proxies.map((proxy) => ({ ...flagsAndKeysFor(spoken), ...proxy })));
  const texts = await Promise.all(
    runs.map(async ({ flags, keys, proxy, format }, index) => {
      const home = join(cli.home, String(index));
      const { code, stdout, stderr } = await cli.run(
        ["chat", "hello", ...format, ...flags, "--base-url", `${server.url}/v1`],
        { env: { ...keys, CODY_HOME: home, HTTP_PROXY: proxy } },
      );
      expect(code).toBe(1);
      return [[`${index}: stdout`, withoutUserMessages(stdout)] as const, [`${index}: stderr`, stderr] as const];
    }),
  );
  const all = new Map([...texts.flat(), ...(await storedFiles(cli))]);
  expect(findCanaries(all)).toEqual([]);
  expect(server.requests).toEqual([]);
  expect([...all.keys()].filter((path) => path.endsWith(".jsonl"))).toHaveLength(runs.length);
}, 60_000);

test("the search finds a leaked secret, plain and encoded", () => {
  for (const [canary, secret] of Object.entries(canaries)) {
    const forms = [
      secret,
      encodeURIComponent(secret),
      Buffer.from(secret).toString("base64"),
      Buffer.from(`user:${secret}`).toString("base64"),
    ];
    for (const form of forms)
      expect(findCanaries(new Map([["a file", `x${form}y`]]))).toEqual([{ canary, where: "a file" }]);
  }
  expect(Object.keys(canaries).length).toBeGreaterThanOrEqual(20);
});
