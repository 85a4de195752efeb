import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { RetryBackoff, SharedServer } from "../../../src/actors/mcp/mcp-servers.js";
import { McpRedactor } from "../../../src/config/secrets/mcp-redactor.js";
import type { McpServerEntry } from "../../../src/messages/settings/mcp-config.js";
import { remainingProcesses, processesWith } from "../../support/processes.js";
import { receivedMessages, markedEntry, openHttpServer, serverEntry } from "../../support/mcp/servers.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const never = new AbortController().signal;
const decline = async () => ({ action: "decline" as const });

async function open(entry: McpServerEntry, env: Record<string, string> = {}) {
  const logged: string[] = [];
  const root = await temporaryFolder();
  const all = { PATH: process.env["PATH"], ...env };
  const options = { name: "test", entry, root, home: root, env: all, redactor: new McpRedactor({ test: entry }, all) };
  const server = new SharedServer({ ...options, log: (text) => logged.push(text) });
  onTestFinished(() => server.stop());
  return { server, logged, root };
}

function call(server: SharedServer, tool: string, args: Record<string, unknown> = {}, signal = never) {
  const { state } = server;
  const revision = "tools" in state ? state.tools.find(({ name }) => name === tool)?.revision : undefined;
  return server.call({ tool, revision: revision ?? "", arguments: args }, decline, signal);
}

function textIn(answered: Awaited<ReturnType<typeof call>>): string {
  if (!answered.ok) return `error: ${answered.error}`;
  return (answered.value as { content: { text: string }[] }).content.map(({ text }) => text).join("");
}

test("a server starts, lists and runs its tools, and leaves no process after stop", async () => {
  const { entry, mark } = markedEntry();
  const { server } = await open(entry);
  expect(await server.connect()).toMatchObject({ status: "ready", offers: { tools: true, resources: true } });
  expect(textIn(await call(server, "echo", { text: "hi" }))).toBe("echo: hi");
  // The server and its guard process.
  expect(await processesWith(mark)).toHaveLength(2);
  await server.stop();
  expect(await remainingProcesses(mark, 2_000)).toEqual([]);
});

test("stop ends a server that left its process group and ignores signals", async () => {
  const { entry, mark } = markedEntry(["stubborn"]);
  const { server } = await open(entry);
  await server.connect();
  await call(server, "stray");
  expect(await processesWith(mark)).toHaveLength(3);
  await server.stop();
  expect(await remainingProcesses(mark, 2_000)).toEqual([]);
});

test("a server gets a clean environment with only the configured variables", async () => {
  const entry = serverEntry([], { env: { OWN: "1" }, env_vars: ["NAMED"] });
  const { server } = await open(entry, { OPENAI_API_KEY: "sk-not-yours", NAMED: "2", OTHER: "3" });
  await server.connect();
  const env = JSON.parse(textIn(await call(server, "env"))) as Record<string, string>;
  expect(env).toMatchObject({ OWN: "1", NAMED: "2" });
  expect(Object.keys(env)).not.toContain("OPENAI_API_KEY");
  expect(Object.keys(env)).not.toContain("OTHER");
});

test("a server that never answers fails after the startup timeout and is ended", async () => {
  const { entry, mark } = markedEntry(["silent"], { startup_timeout_sec: 0.2 });
  const { server } = await open(entry);
  expect(await server.connect()).toEqual({ status: "failed", error: "it was not ready within 0.2 seconds" });
  expect(await remainingProcesses(mark, 5_000)).toEqual([]);
});

test("a server that does not list its tools in time fails too", async () => {
  const { server } = await open(serverEntry(["silent-list"], { startup_timeout_sec: 0.3 }));
  expect(await server.connect()).toMatchObject({ status: "failed" });
});

test("the error of an exited server contains its exit code and its last output", async () => {
  const { server } = await open(serverEntry(["crash"]));
  expect(await server.connect()).toEqual({
    status: "failed",
    error: "it exited with code 4; it wrote: I cannot go on",
  });
});

test("secrets are redacted from a server's errors, answers and logs", async () => {
  const secret = "correct-horse-battery";
  const ended = await open(serverEntry(["leaks", "crash"], { env: { API_KEY: secret } }));
  const state = await ended.server.connect();
  expect(state).toMatchObject({ status: "failed", error: expect.stringContaining("my key is [redacted]") });
  const answering = await open(serverEntry(["leaks"], { env: { API_KEY: secret } }));
  await answering.server.connect();
  const answered = await call(answering.server, "echo");
  expect(answered).toMatchObject({ ok: false, error: expect.stringContaining("[redacted]") });
  const { url } = await openHttpServer(["refuses"]);
  const far = await open({ url, bearer_token_env_var: "MINE" }, { MINE: secret });
  const refused = await far.server.connect();
  expect(refused).toMatchObject({ status: "failed" });
  const texts = [state, answered, refused, ...[ended, answering, far].flatMap(({ logged }) => logged)];
  expect(JSON.stringify(texts)).not.toContain(secret);
});

test("a missing command or working directory is named in the error", async () => {
  const { server } = await open({ command: "/no/such/command" });
  expect(await server.connect()).toMatchObject({
    status: "failed",
    error: expect.stringContaining("/no/such/command"),
  });
  const nowhere = await open(serverEntry([], { cwd: "/no/such/folder" }));
  expect(await nowhere.server.connect()).toMatchObject({
    status: "failed",
    error: expect.stringContaining("/no/such/folder"),
  });
});

test("output lines that are not messages are ignored", async () => {
  const { server } = await open(serverEntry(["chatty"]));
  expect(await server.connect()).toMatchObject({ status: "ready" });
  expect(textIn(await call(server, "echo", { text: "hi" }))).toBe("echo: hi");
});

test.each(["wrong-ids", "doubled"])("answers with %s do not resolve other calls", async (trait) => {
  const { server } = await open(serverEntry([trait]));
  await server.connect();
  const answers = await Promise.all(["a", "b", "c"].map((text) => call(server, "echo", { text })));
  expect(answers.map(textIn)).toEqual(["echo: a", "echo: b", "echo: c"]);
});

test("a server that dies during a call fails it at once, and the next call restarts the server", async () => {
  const { server } = await open(serverEntry());
  await server.connect();
  const first = textIn(await call(server, "pid"));
  expect(await call(server, "die")).toMatchObject({ ok: false });
  expect(server.state.status).toBe("lost");
  const second = textIn(await call(server, "pid"));
  expect(second).toMatch(/^\d+$/);
  expect(second).not.toBe(first);
});

test("a server that keeps crashing is not restarted any more", async () => {
  const { server } = await open(serverEntry(["crash"]));
  for (let times = 0; times < 5; times += 1) await server.connect();
  const state = await server.connect();
  expect(state).toMatchObject({ status: "failed" });
  expect(await call(server, "echo")).toMatchObject({
    ok: false,
    error: expect.stringContaining("it was started 5 times within a minute"),
  });
});

test("a failed server is retried when its pause is over", async () => {
  let now = 0;
  const root = await temporaryFolder();
  const entry = serverEntry(["crash"], { env: { ONCE: join(root, "once") } });
  const options = { name: "test", entry, root, home: root, env: { PATH: process.env["PATH"] } };
  const told = { log: () => undefined, redactor: new McpRedactor({}, {}) };
  const server = new SharedServer({ ...options, ...told }, new RetryBackoff(() => now));
  onTestFinished(() => server.stop());
  await server.connect();
  server.retry();
  expect(server.state.status).toBe("failed");
  now += 5_000;
  server.retry();
  await expect.poll(() => server.state.status, { timeout: 5_000 }).toBe("ready");
});

test("a call over its timeout fails, and the server gets a cancellation", async () => {
  const file = join(await temporaryFolder(), "heard");
  const { server } = await open(serverEntry([], { tool_timeout_sec: 0.2, env: { HEARD: file } }));
  await server.connect();
  expect(await call(server, "wait")).toMatchObject({ ok: false, error: expect.stringContaining("0.2 seconds") });
  await expect
    .poll(async () => (await receivedMessages(file)).map(({ method }) => method))
    .toContain("notifications/cancelled");
  expect(textIn(await call(server, "echo", { text: "still here" }))).toBe("echo: still here");
});

test("an interrupted call ends at once, and the server gets a cancellation", async () => {
  const file = join(await temporaryFolder(), "heard");
  const { server } = await open(serverEntry([], { env: { HEARD: file } }));
  await server.connect();
  const interruption = new AbortController();
  const waiting = call(server, "wait", {}, interruption.signal);
  await expect
    .poll(async () => (await receivedMessages(file)).filter(({ method }) => method === "tools/call"))
    .toHaveLength(1);
  interruption.abort();
  expect(await waiting).toMatchObject({ ok: false, error: expect.stringContaining("interrupted") });
  await expect
    .poll(async () => (await receivedMessages(file)).map(({ method }) => method))
    .toContain("notifications/cancelled");
});

test("an answer that is too long or nested too deeply fails only its own call", async () => {
  const { server } = await open(serverEntry());
  await server.connect();
  expect(textIn(await call(server, "huge", { bytes: 20_000_000 }))).toContain("larger than 16777216 bytes");
  expect(textIn(await call(server, "echo", { text: "hi" }))).toBe("echo: hi");
  const deep = await open(serverEntry(["deep"]));
  await deep.server.connect();
  expect(textIn(await call(deep.server, "echo"))).toContain("more than 100 levels deep");
});

test.each(["flood", "changing"])(
  "a server that floods us with unsolicited messages is disconnected: %s",
  async (trait) => {
    const { server, logged } = await open(serverEntry([trait]));
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await server.connect();
    await expect.poll(() => logged.join("\n"), { timeout: 10_000 }).toContain("unsolicited messages per minute");
    clearInterval(timer);
    expect(server.state.status).not.toBe("ready");
    // The event loop kept running timers between the messages.
    expect(turns).toBeGreaterThan(5);
  },
);

test("an HTTP server that floods us with unsolicited messages is disconnected", async () => {
  const { url } = await openHttpServer(["flood"]);
  const { server } = await open({ url });
  await server.connect();
  expect(textIn(await call(server, "wait"))).toContain("error");
  expect(server.state.status).toBe("lost");
});

test("a message with too many parts is not parsed", async () => {
  const { server } = await open(serverEntry(["brackets"]));
  await server.connect();
  expect(textIn(await call(server, "echo"))).toContain("more than 200000 parts");
  const { url } = await openHttpServer(["brackets"]);
  const far = await open({ url });
  await far.server.connect();
  expect(textIn(await call(far.server, "echo"))).toContain("error");
  expect(far.logged.join("\n")).toContain("more than 200000 parts");
});

test("pages of tools are requested until the limit is reached", async () => {
  const file = join(await temporaryFolder(), "heard");
  const { server } = await open(serverEntry(["pages"], { env: { HEARD: file } }));
  expect(await server.connect()).toMatchObject({ status: "ready", tools: expect.objectContaining({ length: 100 }) });
  expect((await receivedMessages(file)).filter(({ method }) => method === "tools/list")).toHaveLength(2);
});

test("an endless line is not kept in memory", async () => {
  const { server } = await open(serverEntry(["endless-line"], { startup_timeout_sec: 1 }));
  const before = process.memoryUsage().arrayBuffers;
  expect(await server.connect()).toMatchObject({ status: "failed" });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000_000);
});

test("a server's stderr is logged up to a bound", async () => {
  const { server, logged } = await open(serverEntry(["complains"]));
  await server.connect();
  await expect.poll(() => logged.length).toBeGreaterThan(0);
  expect(logged.join("").length).toBeLessThan(70_000);
});

test("unusable tools are left out, and the others are kept", async () => {
  const { server, logged } = await open(serverEntry(["odd-tools"]));
  const state = await server.connect();
  const names = "tools" in state ? state.tools.map(({ name }) => name) : [];
  expect(names).toEqual(expect.arrayContaining(["echo", "with spaces & more", "x".repeat(200), "choice", "long"]));
  expect(names).not.toContain("no-object");
  expect(logged.filter((line) => line.includes("left out"))).toHaveLength(6);
  const choice = "tools" in state ? state.tools.find(({ name }) => name === "choice") : undefined;
  expect(choice?.inputSchema).toEqual({ type: "object", properties: {} });
});

test("of too many tools the first are used, or the enabled ones", async () => {
  const { server } = await open(serverEntry(["many-tools"]));
  expect(await server.connect()).toMatchObject({ status: "ready", tools: expect.objectContaining({ length: 100 }) });
  const chosen = await open(serverEntry(["many-tools"], { enabled_tools: ["tool-4000", "echo"] }));
  const state = await chosen.server.connect();
  expect("tools" in state && state.tools.map(({ name }) => name)).toEqual(["echo", "tool-4000"]);
  const others = await open(serverEntry([], { disabled_tools: ["echo"] }));
  const rest = await others.server.connect();
  expect("tools" in rest && rest.tools.some(({ name }) => name === "echo")).toBe(false);
});

test("a changed tool is listed again, and a call to its old definition is refused", async () => {
  const { server } = await open(serverEntry());
  await server.connect();
  const old = "tools" in server.state ? server.state.tools.find(({ name }) => name === "echo") : undefined;
  await call(server, "change");
  await expect
    .poll(() => "tools" in server.state && server.state.tools.find(({ name }) => name === "echo")?.description)
    .toBe("Says it again, and tells others");
  const late = await server.call({ tool: "echo", revision: old?.revision ?? "", arguments: {} }, decline, never);
  expect(late).toMatchObject({ ok: false, error: expect.stringContaining("definition has changed") });
});

test("a server's elicitation is sent to the caller of the running tool", async () => {
  const { server } = await open(serverEntry());
  await server.connect();
  const { state } = server;
  const revision = "tools" in state ? (state.tools.find(({ name }) => name === "ask")?.revision ?? "") : "";
  const asked: string[] = [];
  const answered = await server.call(
    { tool: "ask", revision, arguments: {} },
    async ({ message }) => {
      asked.push(message);
      return { action: "accept", content: { sure: true } };
    },
    never,
  );
  expect(asked).toEqual(["May I go on?"]);
  expect(JSON.parse(textIn(answered))).toEqual({ action: "accept", content: { sure: true } });
});

test("an HTTP server works the same, with the configured headers and token", async () => {
  const file = join(await temporaryFolder(), "heard");
  const { url } = await openHttpServer([], { HEARD: file });
  const entry: McpServerEntry = {
    url,
    bearer_token_env_var: "MY_TOKEN",
    http_headers: { "X-One": "1" },
    env_http_headers: { "X-Two": "TWO" },
  };
  const { server } = await open(entry, { MY_TOKEN: "secret", TWO: "2" });
  expect(await server.connect()).toMatchObject({ status: "ready" });
  expect(textIn(await call(server, "echo", { text: "hi" }))).toBe("echo: hi");
  expect(textIn(await call(server, "huge", { bytes: 20_000_000 }))).toContain("error");
  expect(textIn(await call(server, "echo", { text: "again" }))).toBe("echo: again");
  const [first] = await receivedMessages(file);
  expect(first).toMatchObject({ headers: { authorization: "Bearer secret", "x-one": "1", "x-two": "2" } });
});

test("over HTTP an interrupted call is cancelled, and an expired session is initialized again", async () => {
  const file = join(await temporaryFolder(), "heard");
  const { url, child } = await openHttpServer([], { HEARD: file });
  const { server } = await open({ url });
  await server.connect();
  const interruption = new AbortController();
  const waiting = call(server, "wait", {}, interruption.signal);
  await expect
    .poll(async () => (await receivedMessages(file)).some(({ method }) => method === "tools/call"))
    .toBe(true);
  interruption.abort();
  expect(await waiting).toMatchObject({ ok: false });
  await expect
    .poll(async () => (await receivedMessages(file)).map(({ method }) => method))
    .toContain("notifications/cancelled");
  await call(server, "forget");
  await call(server, "echo", { text: "lost" });
  expect(textIn(await call(server, "echo", { text: "hi" }))).toBe("echo: hi");
  const cutOff = call(server, "wait");
  await expect
    .poll(async () => (await receivedMessages(file)).filter(({ method }) => method === "tools/call"))
    .toHaveLength(4);
  child.kill("SIGKILL");
  expect(await cutOff).toMatchObject({ ok: false });
  expect(await call(server, "echo")).toMatchObject({ ok: false });
});

test("a redirect is not followed, so no other server receives the token", async () => {
  const { url } = await openHttpServer(["redirect"]);
  const { server } = await open({ url, bearer_token_env_var: "MY_TOKEN" }, { MY_TOKEN: "secret" });
  expect(await server.connect()).toMatchObject({ status: "failed" });
});

test("a missing token variable is named in the error", async () => {
  const { server } = await open({ url: "http://127.0.0.1:1/", bearer_token_env_var: "MY_TOKEN" });
  expect(await server.connect()).toMatchObject({
    status: "failed",
    error: "the environment variable MY_TOKEN is not set",
  });
});
