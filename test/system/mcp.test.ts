import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { SharedServer } from "../../src/actors/mcp/mcp-servers.js";
import { McpRedactor } from "../../src/config/secrets/mcp-redactor.js";
import type { McpServerEntry } from "../../src/messages/settings/mcp-config.js";
import { Cli, finished } from "../support/cli.js";
import { remainingProcesses, type Mark, marked, waitForProcesses } from "../support/processes.js";

/** The reference server of the MCP project, which has every feature. */
const officialServer = "@modelcontextprotocol/server-everything@2026.8.31";
const runsOfEachKind = 20;

let folder = "";
let script = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "cody-everything-"));
  await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", "--prefix", folder, officialServer]);
  script = join(folder, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
}, 300_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

const neverAborted = new AbortController().signal;

/** A value for every required argument of each tool. */
const toolArguments: Readonly<Record<string, Record<string, unknown>>> = {
  echo: { message: "hello" },
  "get-sum": { a: 2, b: 3 },
  "get-structured-content": { location: "Chicago" },
  "get-resource-reference": { resourceType: "Text", resourceId: 1 },
  "get-annotated-message": { messageType: "success" },
  "gzip-file-as-resource": { name: "x.gz", data: "data:text/plain;base64,eA==" },
  "trigger-long-running-operation": { duration: 0.2, steps: 2 },
  "simulate-research-query": { topic: "tests" },
};

/** Runs as a task that must be polled, which cody does not support and reports. */
const taskTools = new Set(["simulate-research-query"]);

async function tryEveryTool(entry: McpServerEntry): Promise<string[]> {
  const options = { name: "everything", entry, root: folder, env: process.env };
  const server = new SharedServer({
    ...options,
    home: folder,
    log: () => undefined,
    redactor: new McpRedactor({}, {}),
  });
  onTestFinished(() => server.stop());
  const state = await server.connect();
  if (state.status !== "ready") throw new Error(JSON.stringify(state));
  const call = (tool: string, args: Record<string, unknown>, signal: AbortSignal) => {
    const revision = state.tools.find(({ name }) => name === tool)?.revision ?? "";
    return server.call({ tool, revision, arguments: args }, async () => ({ action: "decline" }), signal);
  };
  for (const { name } of state.tools) {
    const answered = await call(name, toolArguments[name] ?? {}, neverAborted);
    const isError = answered.ok && Object(answered.value)["isError"] === true;
    expect({ name, works: answered.ok && !isError }).toEqual({ name, works: !taskTools.has(name) });
  }
  for (const { name } of state.tools) {
    const interruption = new AbortController();
    const args = name === "trigger-long-running-operation" ? { duration: 60, steps: 60 } : (toolArguments[name] ?? {});
    const calling = call(name, args, interruption.signal);
    interruption.abort();
    expect(await calling).toMatchObject({ ok: false });
  }
  expect(await call("echo", { message: "still here" }, neverAborted)).toMatchObject({ ok: true });
  return state.tools.map(({ name }) => name);
}

test("every tool of the official server is listed, called and cancelled over stdio", { timeout: 120_000 }, async () => {
  const mark = marked("everything");
  const tools = await tryEveryTool({ command: process.execPath, args: [script], env: mark.env });
  console.log(`stdio: ${tools.length} tools`);
  expect(tools.length).toBeGreaterThan(10);
});

test("every tool of the official server is listed, called and cancelled over HTTP", { timeout: 120_000 }, async () => {
  const port = await freePort();
  const child = spawn(process.execPath, [script, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stderr, "data");
  await expect.poll(() => listens(port), { timeout: 20_000 }).toBe(true);
  const tools = await tryEveryTool({ url: `http://127.0.0.1:${port}/mcp` });
  console.log(`http: ${tools.length} tools`);
  expect(tools.length).toBeGreaterThan(10);
});

const endings = {
  "by itself": async (cli: Cli) => {
    const { code, stdout } = await cli.run(["chat", "What is 2+2?", "--json"]);
    return code === 0 && stdout.includes('"ready":["everything"]');
  },
  SIGINT: (cli: Cli, mark: Mark) => endedBy(cli, mark, "SIGINT"),
  SIGTERM: (cli: Cli, mark: Mark) => endedBy(cli, mark, "SIGTERM"),
  SIGKILL: (cli: Cli, mark: Mark) => endedBy(cli, mark, "SIGKILL"),
  "by a crash": async (cli: Cli) => {
    return (await cli.run(["chat", "hello there"], { middle: "crash" })).code !== 0;
  },
} satisfies Record<string, (cli: Cli, mark: Mark) => Promise<boolean>>;

/** Whether the signal ended the process. */
async function endedBy(cli: Cli, mark: Mark, signal: NodeJS.Signals): Promise<boolean> {
  const child = cli.start(["chat", "hello there"], { middle: "hold" });
  child.stdin.end();
  // The server and its guard process.
  await waitForProcesses(mark, 2);
  child.kill(signal);
  const { code, signal: endedWith } = await finished(child);
  return code !== 0 || endedWith === signal;
}

test.each(Object.entries(endings))(
  "no process is left after runs that end %s",
  { timeout: 600_000 },
  async (name, end) => {
    const cli = await Cli.open({ spawned: true });
    await mkdir(cli.home);
    for (let run = 0; run < runsOfEachKind; run += 1) {
      const mark = marked("everything");
      const server = { command: process.execPath, args: [script], env: mark.env, startup_timeout_sec: 60 };
      await writeFile(join(cli.home, "config.json"), JSON.stringify({ mcp_servers: { everything: server } }));
      await end(cli, mark);
      expect({ run, left: await remainingProcesses(mark, 5_000) }).toEqual({ run, left: [] });
    }
    console.log(`${name}: ${runsOfEachKind} runs, 0 processes left`);
  },
);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function listens(port: number): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/mcp`).then(
    () => true,
    () => false,
  );
}
