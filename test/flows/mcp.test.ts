import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TokenStore } from "../../src/actors/credentials/token-store.js";
import { setTrust } from "../../src/config/project/trust.js";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { ManagerOptions } from "../../src/actors/conversation/open/manager-options.js";
import type { McpServerEntries } from "../../src/messages/settings/mcp-config.js";
import { remainingProcesses, processesWith } from "../support/processes.js";
import { receivedMessages, markedEntry, openHttpServer, serverEntry } from "../support/mcp/servers.js";
import { OAuthServer } from "../support/mcp/oauth-server.js";
import { type EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { calls, type Reply, says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const env = { PATH: process.env["PATH"] };

function open(replies: Iterable<Reply>, servers: McpServerEntries, more: ManagerOptions = {}) {
  const provider = scripted(replies);
  const { config, ...options } = more;
  return openConversation({ provider, env, ...options, config: { mcp_servers: servers, ...config } });
}

const fullAccess = { approvalPolicy: "on-request", sandbox: "danger-full-access" } as const;

test("a conversation reports the start of its servers, and its model calls their tools", async () => {
  const { conversation, events } = await open(
    [calls("mcp__one__echo", "c1", { text: "hi" }), says("done")],
    {
      one: serverEntry(),
      two: serverEntry(["crash"]),
      off: serverEntry([], { enabled: false }),
    },
    { config: fullAccess },
  );
  expect(await events.until("mcp_startup_complete")).toEqual({
    type: "mcp_startup_complete",
    ready: ["one"],
    failed: [{ server: "two", error: "it exited with code 4; it wrote: I cannot go on" }],
    cancelled: [],
  });
  expect(events.types()[0]).toBe("session_configured");
  const updates = events.seen.flatMap(({ msg }) => (msg.type === "mcp_startup_update" ? [msg] : []));
  expect(updates.filter(({ server }) => server === "one").map(({ status }) => status.state)).toEqual([
    "starting",
    "ready",
  ]);
  await conversation.submit("go");
  const invocation = { server: "one", tool: "echo", arguments: { text: "hi" } };
  expect(await events.until("mcp_tool_call_begin")).toMatchObject({ call_id: "c1", invocation });
  expect(await events.until("mcp_tool_call_end")).toMatchObject({
    call_id: "c1",
    invocation,
    result: { Ok: { content: [{ type: "text", text: "echo: hi" }] } },
  });
  await events.until("task_complete");
  expect(outputs(conversation.getHistory())).toEqual(["echo: hi"]);
});

test("a turn waits for starting servers, and continues without those that fail", async () => {
  const provider = scripted([says("done")]);
  const { conversation, events } = await openConversation({
    provider,
    env,
    config: { mcp_servers: { slow: serverEntry(["silent"], { startup_timeout_sec: 0.3 }), one: serverEntry() } },
  });
  await conversation.submit("go");
  await events.until("task_complete");
  const names = provider.requests[0]?.tools.map(({ name }) => name) ?? [];
  expect(names).toEqual(expect.arrayContaining(["shell", "mcp__one__echo", "list_mcp_resources", "read_mcp_resource"]));
  expect(names.some((name) => name.startsWith("mcp__slow"))).toBe(false);
});

test("only the first turn waits for a failed server", async () => {
  const once = join(await temporaryFolder(), "once");
  // The server exits at once, and would then never be ready.
  const broken = serverEntry(["crash", "silent"], { startup_timeout_sec: 600, env: { ONCE: once } });
  const { conversation } = await open([says("one"), says("two")], { broken }, { idleAfter: Infinity });
  await conversation.processMessage("go");
  await conversation.processMessage("go on");
  expect(conversation.getHistory()).toHaveLength(4);
});

test("an interrupt does not wait for a starting server", async () => {
  const { conversation, events } = await open([says("done")], { slow: serverEntry(["silent"]) });
  await conversation.submit("go");
  await events.until("task_started");
  await conversation.interrupt();
  expect(await events.until("turn_aborted")).toMatchObject({ reason: "interrupted" });
});

test("a call needs approval, and an approval for the session covers the tool only while it is unchanged", async () => {
  const { conversation, events } = await open(
    [
      calls("mcp__one__echo", "c1", { text: "hi" }),
      calls("mcp__one__echo", "c2", { text: "hi" }),
      calls("mcp__one__change", "c3"),
      says("done"),
      calls("mcp__one__echo", "c4", { text: "hi" }),
      says("done"),
    ],
    { one: serverEntry() },
    // The server would end with the last conversation that uses it, and forget the change.
    { idleAfter: Infinity },
  );
  const allow = async (call_id: string): Promise<void> => {
    const request = await events.until("exec_approval_request");
    expect(request).toMatchObject({ call_id });
    await conversation.submit({ type: "exec_approval", id: request.approval_id, decision: "approved_for_session" });
  };
  await conversation.submit("go");
  await allow("c1");
  // The same call again needs no approval, so the next request is about the changed tool.
  await allow("c3");
  await events.until("task_complete");
  await expect.poll(() => echoIn(conversation, events)).toBe("Says it again, and tells others");
  await conversation.submit("again");
  await allow("c4");
  await events.until("task_complete");
  expect(outputs(conversation.getHistory())).toEqual(["echo: hi", "echo: hi", "changed", "echo: hi"]);
});

test("an interrupt during a call reaches the server", async () => {
  const file = join(await temporaryFolder(), "heard");
  const servers = { one: serverEntry([], { env: { HEARD: file } }) };
  const { conversation, events } = await open([calls("mcp__one__wait", "c1")], servers, { config: fullAccess });
  await conversation.submit("go");
  await events.until("mcp_tool_call_begin");
  await expect
    .poll(async () => (await receivedMessages(file)).some(({ method }) => method === "tools/call"))
    .toBe(true);
  await conversation.interrupt();
  expect(await events.until("mcp_tool_call_end")).toMatchObject({
    result: { Err: expect.stringContaining("interrupted") },
  });
  await events.until("turn_aborted");
  await expect
    .poll(async () => (await receivedMessages(file)).map(({ method }) => method))
    .toContain("notifications/cancelled");
});

test.each([
  ["approved", { action: "accept", content: { sure: true, size: "small" } }],
  ["denied", { action: "decline" }],
] as const)("an elicitation of a server becomes an approval request: %s", async (decision, answer) => {
  const { conversation, events } = await open([calls("mcp__one__ask", "c1"), says("done")], { one: serverEntry() });
  await conversation.submit("go");
  const call = await events.until("exec_approval_request");
  await conversation.submit({ type: "exec_approval", id: call.approval_id, decision: "approved" });
  const request = await events.until("exec_approval_request");
  expect(request).toMatchObject({
    tool: "mcp__one__ask",
    command: ["mcp__one", "May I go on?", expect.any(String)],
    reason: expect.stringContaining("the MCP server one asks this"),
  });
  await conversation.submit({ type: "exec_approval", id: request.approval_id, decision });
  await events.until("task_complete");
  expect(outputs(conversation.getHistory()).map((text) => JSON.parse(text) as unknown)).toEqual([answer]);
});

test("approving an elicitation that requires values cancels it instead of inventing them", async () => {
  const replies = [calls("mcp__one__ask", "c1", { required: ["name"] }), says("done")];
  const { conversation, events } = await open(replies, { one: serverEntry() }, { config: fullAccess });
  await conversation.submit("go");
  const request = await events.until("exec_approval_request");
  await conversation.submit({ type: "exec_approval", id: request.approval_id, decision: "approved" });
  await events.until("task_complete");
  expect(outputs(conversation.getHistory())).toEqual(['{"action":"cancel"}']);
});

test.each([
  ["picture", "[image image/png, 3000000 bytes, not shown: it is not a png, jpeg, gif or webp image]"],
  ["structured", '{"degrees":21}'],
  ["fail", "it went wrong"],
  ["nothing", "MCP server one: its answer is not a valid result"],
  ["die", "MCP server one: "],
])("the output of %s is truncated to the limit", async (tool, text) => {
  const replies = [calls(`mcp__one__${tool}`, "c1"), says("done")];
  const { conversation, events } = await open(replies, { one: serverEntry() }, { config: fullAccess });
  await conversation.submit("go");
  const { result } = await events.until("mcp_tool_call_end");
  expect(JSON.stringify(result).length).toBeLessThan(40_000);
  await events.until("task_complete");
  expect(outputs(conversation.getHistory())[0]).toContain(text);
});

test("resources are listed and read", async () => {
  const replies = [
    calls("list_mcp_resources", "c1"),
    calls("list_mcp_resource_templates", "c2", { server: "one" }),
    calls("read_mcp_resource", "c3", { server: "one", uri: "test://one" }),
    calls("read_mcp_resource", "c4", { server: "none", uri: "test://one" }),
    says("done"),
  ];
  const { conversation, events } = await open(replies, { one: serverEntry() }, { config: fullAccess });
  await conversation.submit("go");
  await events.until("task_complete");
  expect(outputs(conversation.getHistory())).toEqual([
    '[{"server":"one","resources":[{"uri":"test://one","name":"one"}]}]',
    '[{"server":"one","resourceTemplates":[{"uriTemplate":"test://{name}","name":"any"}]}]',
    "[resource test://one]\nwhat is in test://one",
    "no MCP server named none with resources",
  ]);
});

test("list_mcp_tools lists the tools of each server", async () => {
  const { conversation, events } = await open([], { one: serverEntry() });
  await conversation.submit({ type: "list_mcp_tools" });
  const { tools, resources, prompts } = await events.until("mcp_list_tools_response");
  expect(Object.keys(tools)).toContain("mcp__one__echo");
  expect(resources).toEqual({ one: [{ uri: "test://one", name: "one" }] });
  expect(prompts["one"]).toMatchObject([{ name: "greet" }]);
});

test("a hundred conversations of a project share one server process, which ends with the last of them", async () => {
  const { entry, mark } = markedEntry();
  const provider = scripted(Array.from({ length: 100 }, () => says("done")));
  const { manager } = await openManager({ env, providers: [provider], config: { mcp_servers: { one: entry } } });
  const opened = await Promise.all(
    Array.from({ length: 100 }, () => manager.newConversation({ provider: "scripted", model: "scripted" })),
  );
  await Promise.all(opened.map(({ conversation }) => conversation.processMessage("go")));
  // The server and its guard process.
  expect(await processesWith(mark)).toHaveLength(2);
  const [first, ...others] = opened;
  await Promise.all(others.map(({ conversation }) => conversation.shutdown()));
  expect(await processesWith(mark)).toHaveLength(2);
  await first?.conversation.shutdown();
  expect(await remainingProcesses(mark, 2_000)).toEqual([]);
});

test("nothing in a project's configuration runs before the user trusts the project", async () => {
  const { entry, mark } = markedEntry();
  const [home, root] = [await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(root, ".cody"));
  await writeFile(join(root, ".cody/config.json"), JSON.stringify({ mcp_servers: { theirs: entry } }));
  const untrusting = await openConversation({ provider: scripted([says("done")]), home, cwd: root, env });
  expect(untrusting.conversation.notice).toContain("cody trust");
  await untrusting.conversation.processMessage("go");
  expect(await processesWith(mark)).toEqual([]);
  await setTrust(home, root, "untrusted");
  const refusing = await openConversation({ provider: scripted([]), home, cwd: root, env });
  expect(refusing.conversation.notice ?? "").not.toContain("MCP");
  await setTrust(home, root, "trusted");
  const trusting = await openConversation({ provider: scripted([says("done")]), home, cwd: root, env });
  expect(await trusting.events.until("mcp_startup_complete")).toMatchObject({ ready: ["theirs"] });
  expect(await processesWith(mark)).toHaveLength(2);
  await trusting.manager.shutdown();
  expect(await remainingProcesses(mark, 2_000)).toEqual([]);
});

function canary(place: string): string {
  return `canary-${place}-0123456789`;
}

test("secrets that a server repeats are redacted everywhere", async () => {
  const places = ["env", "flag", "header", "bearer", "query", "project"];
  const [home, root] = [await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(root, ".cody"));
  const flags = ["--api-key", canary("flag")];
  const theirs = serverEntry(flags, { env: { API_KEY: canary("project") } });
  await writeFile(join(root, ".cody/config.json"), JSON.stringify({ mcp_servers: { theirs } }));
  await setTrust(home, root, "trusted");
  const { url } = await openHttpServer([], { API_KEY: "of-its-own" });
  const far = {
    url: `${url}?token=${canary("query")}`,
    bearer_token_env_var: "FAR_BEARER",
    http_headers: { "X-Key": canary("header") },
  };
  const own = serverEntry(flags, { env: { API_KEY: canary("env") } });
  const names = ["own", "theirs", "far"];
  const provider = scripted([...names.map((name) => calls(`mcp__${name}__secrets`, name)), says("done")]);
  const { conversation, events, manager } = await openConversation({
    provider,
    home,
    cwd: root,
    env: { ...env, FAR_BEARER: canary("bearer") },
    config: { ...fullAccess, mcp_servers: { own, far } },
  });
  await conversation.processMessage("go");
  expect(outputs(conversation.getHistory())).toEqual([
    expect.stringContaining("key [redacted], [redacted]"),
    expect.stringContaining("key [redacted], [redacted]"),
    expect.stringContaining("Bearer [redacted] [redacted]"),
  ]);
  await manager.shutdown();
  const file = await readFile(conversation.rolloutPath ?? "", "utf8");
  const everything = [file, JSON.stringify(events.seen), JSON.stringify(provider.requests)].join("\n");
  for (const place of places) {
    expect(everything).not.toContain(canary(place));
    expect(everything).not.toContain(btoa(canary(place)));
  }
});

test("an expired token of a login is renewed, and is stored only in its own file", async () => {
  const home = await temporaryFolder();
  const server = await OAuthServer.open();
  server.expiresIn = 0;
  const store = new TokenStore(home);
  await store.locked(() => store.writeMcp(server.url, server.login()));
  server.expiresIn = 3_600;
  const provider = scripted([calls("mcp__far__whoami", "c1"), says("done")]);
  const { conversation, events, manager } = await openConversation({
    provider,
    home,
    env,
    config: { ...fullAccess, mcp_servers: { far: { url: server.url } } },
  });
  await conversation.processMessage("go");
  expect(outputs(conversation.getHistory())).toEqual(["you are Bearer [redacted]"]);
  expect([server.refreshes, server.reuses]).toEqual([1, 0]);
  await manager.shutdown();
  const file = await readFile(conversation.rolloutPath ?? "", "utf8");
  const everything = [file, JSON.stringify(events.seen), JSON.stringify(provider.requests)].join("\n");
  for (const secret of server.given) expect(everything).not.toContain(secret);
});

test("a program that forgets to shut down exits, and its servers with it", async () => {
  const { entry, mark } = markedEntry();
  const home = await temporaryFolder();
  const options = {
    home,
    cwd: home,
    env: { ...env, XDG_RUNTIME_DIR: home },
    config: { mcp_servers: { one: entry } },
  };
  const entryPoint = new URL("../../dist/index.js", import.meta.url).href;
  const source = `import { ConversationManager } from ${JSON.stringify(entryPoint)};
    const manager = new ConversationManager(${JSON.stringify(options)});
    const { conversation } = await manager.newConversation();
    await conversation.processMessage("hello");
    const { tools } = await conversation.servers.describe(new AbortController().signal);
    console.log(Object.keys(tools).includes("mcp__one__echo"));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", source]);
  expect(stdout).toBe("true\n");
  expect(await remainingProcesses(mark, 5_000)).toEqual([]);
});

test("a server lost between two turns is restarted for the next turn", async () => {
  const replies = [
    calls("mcp__one__die", "c1"),
    says("sorry"),
    calls("mcp__one__echo", "c2", { text: "hi" }),
    says("done"),
  ];
  const { conversation, events } = await open(replies, { one: serverEntry() }, { config: fullAccess });
  await conversation.processMessage("die");
  await conversation.processMessage("echo");
  await events.until("task_complete");
  expect(outputs(conversation.getHistory()).at(-1)).toBe("echo: hi");
});

async function echoIn(conversation: Conversation, events: EventLog): Promise<unknown> {
  await conversation.submit({ type: "list_mcp_tools" });
  return (await events.until("mcp_list_tools_response")).tools["mcp__one__echo"]?.description;
}

function outputs(history: readonly { type: string }[]): string[] {
  return history.flatMap((item) =>
    item.type === "function_call_output" && "output" in item ? [String(item.output)] : [],
  );
}
