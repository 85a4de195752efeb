import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { McpServerEntry } from "../../src/messages/settings/mcp-config.js";
import { EventLog, openManager } from "../support/open-conversation.js";
import { markedEntry, receivedMessages, serverEntry } from "../support/mcp/servers.js";
import { processesWith, remainingProcesses } from "../support/processes.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const setup = new URL("../support/unruly-setup.mjs", import.meta.url);
const fullAccess = { approvalPolicy: "on-request", sandbox: "danger-full-access" } as const;

/** A conversation of a shard with one MCP server. */
async function open(entry: McpServerEntry, threads = 1) {
  const config = { ...fullAccess, mcp_servers: { one: entry } };
  const { manager } = await openManager({ threads, setup, env: { PATH: process.env["PATH"] }, config });
  const { conversation } = await manager.newConversation({ provider: "unruly", model: "unruly" });
  return { manager, conversation, events: new EventLog(conversation) };
}

function serversOf(conversation: Conversation) {
  if (conversation.servers === undefined) throw new Error("it has no servers");
  return conversation.servers;
}

/** A signal that nothing aborts before the test has ended. */
function untilEnd(): AbortSignal {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  return controller.signal;
}

async function lastOutput(conversation: Conversation): Promise<unknown> {
  const item = (await conversation.readHistory()).findLast(({ type }) => type === "function_call_output");
  return item !== undefined && "output" in item ? item.output : undefined;
}

test("a conversation of a shard calls a server's tools, and its handle reaches the same server", async () => {
  const { entry, mark } = markedEntry();
  const { manager, conversation } = await open(entry);
  await conversation.processMessage('mcp mcp__one__echo {"text":"hi"}');
  expect(await lastOutput(conversation)).toBe("echo: hi");
  const servers = serversOf(conversation);
  await servers.ready(untilEnd());
  expect(servers.servers.map(({ name, state }) => [name, state.status])).toEqual([["one", "ready"]]);
  const { tools, resources, prompts } = await servers.describe(untilEnd());
  expect(Object.keys(tools)).toContain("mcp__one__echo");
  expect(Object.keys(tools)).not.toContain("shell");
  expect(resources).toEqual({ one: [{ uri: "test://one", name: "one" }] });
  expect(prompts["one"]).toMatchObject([{ name: "greet" }]);
  expect(await servers.prompt("one", "greet", { who: "Ada" }, untilEnd())).toEqual({
    ok: true,
    text: "Greet Ada as ever",
  });
  expect(await servers.prompt("two", "greet", {}, untilEnd())).toEqual({ ok: false, error: "server not found" });
  // The server and its guard process.
  expect(await processesWith(mark)).toHaveLength(2);
  await manager.shutdown();
  expect(await remainingProcesses(mark, 5_000)).toEqual([]);
});

test("a conversation of a shard without servers has none in its handle", async () => {
  const { conversation } = await open(serverEntry([], { enabled: false }));
  expect(conversation.servers).toBeUndefined();
});

test("an interrupt of a turn in a shard reaches the server", async () => {
  const file = join(await temporaryFolder(), "heard");
  const { conversation, events } = await open(serverEntry([], { env: { HEARD: file } }));
  const methods = async () => (await receivedMessages(file)).map(({ method }) => method);
  await conversation.submit("mcp mcp__one__wait");
  await expect.poll(methods).toContain("tools/call");
  await conversation.interrupt();
  expect(await events.until("mcp_tool_call_end")).toMatchObject({
    result: { Err: expect.stringContaining("interrupted") },
  });
  await events.until("turn_aborted");
  await expect.poll(methods).toContain("notifications/cancelled");
});

test("an elicitation during a call from a shard becomes an approval request", async () => {
  const { conversation, events } = await open(serverEntry());
  await conversation.submit("mcp mcp__one__ask");
  const request = await events.until("exec_approval_request");
  expect(request).toMatchObject({ command: ["mcp__one", "May I go on?", expect.any(String)] });
  await conversation.submit({ type: "exec_approval", id: request.approval_id, decision: "approved" });
  await events.until("task_complete");
  expect(JSON.parse(String(await lastOutput(conversation)))).toEqual({
    action: "accept",
    content: { sure: true, size: "small" },
  });
});

test("a server ends with the last thread that uses it", { timeout: 60_000 }, async () => {
  const { entry, mark } = markedEntry();
  const { conversation, events } = await open(entry);
  await conversation.processMessage("mcp mcp__one__pid");
  const first = await lastOutput(conversation);
  await conversation.submit("exit 1");
  await events.until("turn_aborted");
  // The handle has no lease, so that the server ended with the thread.
  await conversation.processMessage("mcp mcp__one__pid");
  const second = await lastOutput(conversation);
  expect(second).not.toBe(first);
  await serversOf(conversation).ready(untilEnd());
  await conversation.submit("exit 2");
  await events.until("turn_aborted");
  await conversation.processMessage("mcp mcp__one__pid");
  expect(await lastOutput(conversation)).toBe(second);
  for (const code of [3, 4]) {
    await conversation.submit(`exit ${code}`);
    await events.until("turn_aborted");
  }
  await conversation.submit("exit 5");
  await events.until("error");
  await conversation.ending;
  expect(await remainingProcesses(mark, 5_000)).toEqual([]);
  await expect(serversOf(conversation).ready(untilEnd())).rejects.toThrow("has ended");
});

test.each([0, 1])("servers end when their conversation sleeps, and asking them wakes it: %i threads", async (count) => {
  const { entry, mark } = markedEntry();
  const { conversation } = await open(entry, count);
  const servers = serversOf(conversation);
  await servers.ready(untilEnd());
  expect(await conversation.sleep()).toBe(true);
  expect(await remainingProcesses(mark, 5_000)).toEqual([]);
  expect(conversation.servers).toBe(servers);
  expect(servers.servers).toEqual([{ name: "one", state: { status: "starting" } }]);
  expect(conversation.isAwake).toBe(false);
  expect(Object.keys((await servers.describe(untilEnd())).tools)).toContain("mcp__one__echo");
  expect(conversation.isAwake).toBe(true);
  expect(await processesWith(mark)).toHaveLength(2);
});
