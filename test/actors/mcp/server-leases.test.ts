import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ConversationServers } from "../../../src/actors/mcp/conversation-servers.js";
import { startMcp } from "../../../src/actors/mcp/mcp.js";
import { type Lease, type LeasedServer, ServerLeases } from "../../../src/actors/mcp/server-leases.js";
import type { ElicitationAnswer } from "../../../src/messages/actors/mcp.js";
import type { EventMsg } from "../../../src/messages/event.js";
import type { McpServerEntries } from "../../../src/messages/settings/mcp-config.js";
import { copyingRef } from "../../support/copying-ref.js";
import { markedEntry, receivedMessages, serverEntry } from "../../support/mcp/servers.js";
import { processesWith, remainingProcesses } from "../../support/processes.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const never = new AbortController().signal;

/** The mcp actor, and the leases of two other threads. */
async function open(configured: McpServerEntries) {
  const [home, root] = [await temporaryFolder(), await temporaryFolder()];
  const env = { PATH: process.env["PATH"] };
  const ref = startMcp({ home, env, log: () => undefined }, (event) => {
    for (const thread of [one, two]) thread.receive(structuredClone(event));
  });
  onTestFinished(() => ref.stop());
  const [one, two] = [
    new ServerLeases(copyingRef(ref), { client: "shard 1", home, configured }),
    new ServerLeases(copyingRef(ref), { client: "shard 2", home, configured }),
  ];
  return { ref, one, two, root };
}

async function leaseOf(leases: ServerLeases, root: string): Promise<{ lease: Lease; server: LeasedServer }> {
  const { lease } = await leases.open(await leases.project(root));
  const [server] = lease?.servers ?? [];
  if (lease === undefined || server === undefined) throw new Error("expected a lease with a server");
  return { lease, server };
}

function toolOf({ state }: LeasedServer, tool: string) {
  return "tools" in state ? state.tools.find(({ name }) => name === tool) : undefined;
}

function call(
  server: LeasedServer,
  tool: string,
  elicit: () => Promise<ElicitationAnswer> = async () => ({ action: "decline" }),
  signal = never,
) {
  const revision = toolOf(server, tool)?.revision ?? "";
  return server.call({ tool, revision, arguments: { text: "hi" } }, elicit, signal);
}

function textOf(text: string) {
  return { ok: true, value: { content: [{ type: "text", text }] } };
}

test("two threads share one server, which ends when both have released it", async () => {
  const { entry, mark } = markedEntry();
  const { one, two, root } = await open({ test: entry });
  const [first, second] = [await leaseOf(one, root), await leaseOf(two, root)];
  await Promise.all([first.server.connect(), second.server.connect()]);
  expect(first.server.state).toEqual(second.server.state);
  expect(await call(first.server, "echo")).toMatchObject(textOf("echo: hi"));
  expect(await call(second.server, "echo")).toMatchObject(textOf("echo: hi"));
  expect(await processesWith(mark)).toHaveLength(2);
  await first.lease.release();
  expect(await call(first.server, "echo")).toEqual({ ok: false, error: "the server was released" });
  expect(await processesWith(mark)).toHaveLength(2);
  await second.lease.release();
  expect(await remainingProcesses(mark, 2_000)).toEqual([]);
});

test("a lease that begins after the server is ready has its tools at once, and hears of their changes", async () => {
  const { one, two, root } = await open({ test: serverEntry() });
  const first = await leaseOf(one, root);
  await first.server.connect();
  const { server } = await leaseOf(two, root);
  expect(server.state.status).toBe("ready");
  const changed = new Promise<void>((resolve) => {
    server.listen(() => {
      if (toolOf(server, "echo")?.description === "Says it again, and tells others") resolve();
    });
  });
  await call(first.server, "change");
  await changed;
  expect(toolOf(first.server, "echo")).toEqual(toolOf(server, "echo"));
});

test("a server's question reaches only the conversation that made the call", async () => {
  const { one, two, root } = await open({ test: serverEntry() });
  const [asked, other] = [await leaseOf(one, root), await leaseOf(two, root)];
  await Promise.all([asked.server.connect(), other.server.connect()]);
  const answered = await call(asked.server, "ask", async () => ({ action: "accept", content: { sure: true } }));
  expect(answered).toMatchObject(textOf('{"action":"accept","content":{"sure":true}}'));
  const failing = await call(other.server, "ask", () => Promise.reject(new Error("nobody is there")));
  expect(failing).toMatchObject(textOf('{"action":"cancel"}'));
});

test("aborting a call cancels it on the server, also while the server asks", async () => {
  const file = join(await temporaryFolder(), "heard");
  const { one, root } = await open({ test: serverEntry([], { env: { HEARD: file } }) });
  const { server } = await leaseOf(one, root);
  await server.connect();
  const interruption = new AbortController();
  const interrupted = () => {
    interruption.abort();
    return new Promise<ElicitationAnswer>(() => undefined);
  };
  expect(await call(server, "ask", interrupted, interruption.signal)).toEqual({
    ok: false,
    error: "interrupted; the call was cancelled",
  });
  await expect
    .poll(async () => (await receivedMessages(file)).map(({ method }) => method))
    .toContain("notifications/cancelled");
  expect(await call(server, "echo")).toMatchObject(textOf("echo: hi"));
});

test("when a thread has died, its leases are released, even one that is still being opened", async () => {
  const { entry, mark } = markedEntry();
  const { ref, one, two, root } = await open({ test: entry });
  const opening = ref.ask({ type: "lease", leaseId: "a", client: "shard 1", root, entries: { test: entry } });
  await ref.ask({ type: "client_gone", client: "shard 1" });
  const [{ serverId } = { serverId: "" }] = await opening;
  expect(await ref.ask({ type: "connect", leaseId: "a", serverId })).toMatchObject({
    state: { status: "failed", error: "the server was released" },
  });
  const dying = await leaseOf(one, root);
  const living = await leaseOf(two, root);
  await Promise.all([dying.server.connect(), living.server.connect()]);
  await ref.ask({ type: "client_gone", client: "shard 1" });
  expect(await call(living.server, "echo")).toMatchObject(textOf("echo: hi"));
  expect(await call(dying.server, "echo")).toMatchObject({ ok: false });
  await ref.ask({ type: "client_gone", client: "shard 2" });
  expect(await remainingProcesses(mark, 2_000)).toEqual([]);
});

test("when the actor has stopped, its servers have ended, and a conversation sees them as failed", async () => {
  const { entry, mark } = markedEntry();
  const { ref, one, root } = await open({ test: entry });
  const { lease, server } = await leaseOf(one, root);
  await server.connect();
  await ref.stop();
  expect(await remainingProcesses(mark, 2_000)).toEqual([]);
  await server.connect();
  expect(server.state).toEqual({ status: "failed", error: "mcp: stopped" });
  expect(await call(server, "echo")).toEqual({ ok: false, error: "mcp: stopped" });
  await lease.release();
});

test("after an internal error the actor ends its servers, and leases work again", async () => {
  const { entry, mark } = markedEntry();
  const { ref, one, two, root } = await open({ test: entry });
  const { server } = await leaseOf(one, root);
  await server.connect();
  // No message that compiles makes the actor fail.
  const invalid = { type: "lease", leaseId: "a", client: "shard 1", root, entries: null } as never;
  await expect(ref.ask(invalid)).rejects.toThrow("mcp: lease");
  expect(await call(server, "echo")).toEqual({ ok: false, error: "the server was released" });
  expect(await remainingProcesses(mark, 2_000)).toEqual([]);
  const again = await leaseOf(two, root);
  await again.server.connect();
  expect(await call(again.server, "echo")).toMatchObject(textOf("echo: hi"));
});

test("the servers of a conversation work from another thread", async () => {
  const { one, root } = await open({ good: serverEntry(), bad: serverEntry(["crash"]) });
  const { lease } = await one.open(await one.project(root));
  if (lease === undefined) throw new Error("expected a lease");
  const servers = new ConversationServers(lease, { names: [], specs: () => [] });
  const published: EventMsg[] = [];
  servers.begin((msg) => published.push(msg));
  await servers.ready(never);
  expect(published.at(-1)).toMatchObject({
    type: "mcp_startup_complete",
    ready: ["good"],
    failed: [{ server: "bad", error: expect.stringContaining("it exited with code 4") }],
  });
  expect(servers.tool("mcp__good__echo")).toBeDefined();
  const { resources, prompts } = await servers.describe(never);
  expect(resources).toEqual({ good: [{ uri: "test://one", name: "one" }] });
  expect(prompts["good"]).toMatchObject([{ name: "greet" }]);
  expect(await servers.prompt("good", "greet", { who: "Ada" }, never)).toEqual({ ok: true, text: "Greet Ada as ever" });
  await servers.release();
});
