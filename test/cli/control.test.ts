import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { version } from "../../src/version.js";
import { controlProtocol } from "../../src/messages/control.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { Cli, saysOn } from "../support/cli.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { copyAsAfterCrash } from "../support/copy-as-after-crash.js";
import { openConversation } from "../support/open-conversation.js";
import { ownSockets } from "../support/own-sockets.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { beginsAndHangs, calls, says, scripted, type Reply } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const effect = defineTool({
  name: "effect",
  description: "",
  parameters: z.strictObject({}),
  command: (_, { cwd }) => ({ argv: ["effect", "it"], cwd }),
  run: () => "done",
});

/** A process with an open conversation; `terminal` opens a terminal of another process. */
async function owner(replies: Iterable<Reply>) {
  const env = { XDG_RUNTIME_DIR: await temporaryFolder() };
  const provider = scripted(replies);
  const opened = await openConversation({ provider, tools: [effect], env, control: true, idleAfter: Infinity });
  while ((await ownSockets(env)).length === 0) await new Promise((resolve) => setImmediate(resolve));
  const { home, cwd } = opened;
  const terminal = (inHome = home): Promise<FakeTerminal> =>
    FakeTerminal.open(scripted([says("done here")]), { home: inHome, cwd, env, tools: [effect] });
  /** Runs a command in another process, and returns what it prints. */
  const run = async (...args: string[]) => {
    const screen = await terminal();
    const code = await screen.run(...args);
    return { code, stdout: screen.screen, stderr: screen.errors };
  };
  return { ...opened, env, provider, terminal, run };
}

test("ps lists the open conversations with state, model, tokens and process", async () => {
  const { run, conversation, conversationId } = await owner([says("hi")]);
  await conversation.processMessage("hello");
  await conversation.rename("my work");
  const { stdout } = await run("ps");
  expect(stdout).toMatch(/^CONVERSATION +STATE +MODEL +TOKENS +OPEN FOR +PROCESS +NAME\n/);
  expect(stdout).toMatch(
    new RegExp(`${conversationId} +idle +scripted +15 +\\d+s +${process.pid} \\(library\\) +my work`),
  );
  const { stdout: json } = await run("ps", "--json");
  expect(JSON.parse(json)).toMatchObject({
    conversations: [{ conversation_id: conversationId, name: "my work", state: "idle", tokens: 15, kind: "library" }],
    problems: [],
  });
});

test("ps --all also lists processes with another home", async () => {
  const { terminal, conversationId } = await owner([]);
  const screen = await terminal(await temporaryFolder());
  await screen.run("ps", "--all", "--json");
  expect(screen.screen).toContain(conversationId);
  await screen.run("ps");
  expect(screen.screen).toMatch(/No conversation is open\.\n$/);
});

test("ps says that nothing is open", async () => {
  const terminal = await FakeTerminal.open(scripted([]), { env: { XDG_RUNTIME_DIR: await temporaryFolder() } });
  expect(await terminal.run("ps")).toBe(0);
  expect(terminal.screen).toBe("No conversation is open.\n");
});

test("a daemon of another version is shown with what to do", async () => {
  const env = { XDG_RUNTIME_DIR: await temporaryFolder() };
  const terminal = await FakeTerminal.open(scripted([]), { env });
  const folder = join(env.XDG_RUNTIME_DIR, "cody");
  await mkdir(folder, { mode: 0o700 });
  const welcome = { type: "welcome", protocol: 1, version: "9.9.9", pid: 1, kind: "daemon", home: terminal.home };
  const server = createServer((socket) => {
    const say = (message: object): void => void socket.write(`${JSON.stringify(message)}\n`);
    createInterface({ input: socket }).on("line", (line) => {
      const { id, type } = JSON.parse(line);
      say(type === "hello" ? { ...welcome, started_at: Date.now() } : { id, type: "conversations", conversations: [] });
    });
    socket.on("error", () => undefined);
  });
  onTestFinished(() => void server.close());
  server.listen(join(folder, `${process.pid}.control-00000000.sock`));
  await once(server, "listening");
  expect(await terminal.run("daemon", "status")).toBe(0);
  expect(terminal.screen).toMatch(/^The daemon is running: pid 1, cody 9\.9\.9, for \d+s, 0 conversations\n$/);
  expect(terminal.errors).toBe(
    `This is cody ${version}. To restart the daemon with it: cody daemon stop; cody daemon start\n`,
  );
});

test("send, tail and stop reach a conversation by id, beginning and name", async () => {
  const { run, terminal, conversation, conversationId, events } = await owner([says("one"), beginsAndHangs("two")]);
  await conversation.rename("my work");
  const tailing = await terminal();
  const tailed = tailing.run("tail", conversationId, "--since", "0", "--json");
  await tailing.shows("session_configured");
  const sent = JSON.parse((await run("send", "my work", "first", "--key", "k", "--json")).stdout);
  expect(sent).toEqual({
    conversation_id: conversationId,
    submission_id: expect.any(String) as string,
    status: "accepted",
  });
  expect(await events.until("task_complete")).toMatchObject({ turn_id: sent.submission_id });
  expect((await run("send", "my work", "first", "--key", "k")).stdout).toContain("Sent before under this key");
  await run("send", conversationId.slice(0, -4), "second");
  await events.until("agent_message_delta");
  await run("send", conversationId, "now", "--steer");
  expect((await run("stop", conversationId)).stdout).toBe(
    `Interrupted the turn of ${conversationId}; dropped 1 message that waited\n`,
  );
  await events.until("turn_aborted");
  await conversation.shutdown();
  expect(await tailed).toBe(0);
  const lines = tailing.screen
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index));
  expect(lines.at(-1)).toMatchObject({
    event_id: expect.stringMatching(/^[0-9a-f]{8}-\d+$/),
    msg: { type: "shutdown_complete" },
  });
});

test("tail prints text, and messages of others", async () => {
  const { terminal, conversation } = await owner([says("an answer"), calls("effect", "c1")]);
  const tailing = await terminal();
  const tailed = tailing.run("tail", conversation.id, "--since", "0");
  await conversation.submit("a \u001b[31mquestion");
  await tailing.shows("question\nan answer");
  expect(tailing.screen).not.toContain("\u001b[31m");
  await conversation.submit("do it");
  await tailing.shows("Needs approval: effect it\n  cody approvals answer ");
  await conversation.shutdown();
  expect(await tailed).toBe(0);
});

test("a conversation that is not open is an error that says what to do", async () => {
  const { run, conversation, conversationId } = await owner([says("hi")]);
  await conversation.processMessage("hello");
  await conversation.shutdown();
  expect(await run("stop", conversationId)).toMatchObject({
    code: 1,
    stderr: `✗ Conversation '${conversationId}' is not open in any process\n  List the open ones: cody ps\n`,
  });
  const { code, stderr } = await run("send", conversationId, "more");
  expect(code).toBe(1);
  expect(stderr).toContain(`cody chat --resume ${conversationId} "text"`);
  expect((await run("send", "nosuch", "more")).stderr).toContain("Conversation 'nosuch' not found");
  expect(await run("send", conversationId)).toMatchObject({ code: 2 });
  expect(await run("send", conversationId, "x", "--steer", "--queue")).toMatchObject({ code: 2 });
});

test("attach shows events and approval requests, and sends what is typed", async () => {
  const { terminal, conversation } = await owner([calls("effect", "c1"), says("both done"), says("queued")]);
  const attached = await terminal();
  const ended = attached.run("attach", conversation.id);
  await attached.tells(`Attached to ${conversation.id}: scripted, idle.`);
  attached.type("go\n");
  await attached.shows("› go");
  await attached.shows("  effect it\n");
  await attached.shows("Allow? /yes: once  /always: always in this conversation  /no [what to do instead]");
  attached.type("also this\n/queue later\n/nonsense\ny\n");
  await attached.tells("✗ Unknown command /nonsense");
  expect(conversation.pendingApprovals).toHaveLength(1);
  attached.type("/yes\n");
  await attached.shows("› also this");
  await attached.shows("› y");
  await attached.shows("both done");
  await attached.shows("› later\nqueued");
  attached.type("/yes\n");
  await attached.tells("✗ No approval request is open");
  attached.type("/detach\n");
  expect(await ended).toBe(0);
  expect(conversation.ending).toBeUndefined();
});

test("approvals of an open conversation are listed, shown and answered by another process", async () => {
  const { run, conversation, events } = await owner([calls("effect", "c1"), says("done")]);
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  expect((await run("approvals")).stdout).toContain(`${id}\n  effect it\n`);
  expect((await run("approvals", "show", id.slice(0, 8))).stdout).toContain("  effect it\n");
  expect(await run("approvals", "answer", id, "perhaps")).toMatchObject({ code: 2 });
  expect(await run("approvals", "answer", id, "yes", "please")).toMatchObject({ code: 2 });
  expect((await run("approvals", "answer", id, "yes")).stdout).toBe(`Answered ${id}\n`);
  await events.until("task_complete");
  const again = await run("approvals", "answer", id, "no");
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining(`No open approval request ${id}`) as string });
  expect((await run("approvals", "list", "--json")).stdout).toBe('{"approvals":[],"problems":[]}\n');
});

test("an answer is recorded when no process has the conversation open, and applied once when it is resumed", async () => {
  const { conversation, conversationId, events, terminal, manager } = await owner([calls("effect", "c1")]);
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  const home = await copyAsAfterCrash(conversation);
  await manager.shutdown();
  const listing = await terminal(home);
  expect(await listing.run("approvals", "list", "--json")).toBe(0);
  expect(JSON.parse(listing.screen)).toMatchObject({ approvals: [{ approvalId: id, state: "saved" }] });
  const answering = await terminal(home);
  expect(await answering.run("approvals", "answer", id, "yes")).toBe(0);
  expect(answering.screen).toContain(`cody resume ${conversationId}`);
  const second = await terminal(home);
  expect(await second.run("approvals", "answer", id, "no")).toBe(1);
  expect(second.errors).toContain("it was answered before");
  const resuming = await terminal(home);
  expect(await resuming.run("chat", "--resume", conversationId, "and now?")).toBe(1);
});

test("with --now the turn continues in the process that answers", async () => {
  const { conversation, events, terminal, manager } = await owner([calls("effect", "c1")]);
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  const home = await copyAsAfterCrash(conversation);
  await manager.shutdown();
  const answering = await terminal(home);
  expect(await answering.run("approvals", "answer", id, "yes", "--now")).toBe(0);
  expect(answering.screen).toBe(`Answered ${id}\ndone here\n`);
  const path = `${home}/conversations/${conversation.id}.jsonl`;
  const types = (await rolloutLines(path)).map(({ payload }) => payload["type"]);
  expect(types.filter((type) => type === "approval_decided")).toHaveLength(1);
});

test("a command with a conversation can be reached while it works", async () => {
  const cli = await Cli.open();
  const env = { XDG_RUNTIME_DIR: await temporaryFolder() };
  const child = cli.start(["chat", "hello"], { env, middle: "hold" });
  onTestFinished(() => void child.kill("SIGKILL"));
  while ((await ownSockets(env)).length === 0) await new Promise((resolve) => setImmediate(resolve));
  for (;;) {
    const { conversations } = JSON.parse((await cli.run(["ps", "--json"], { env })).stdout);
    if (conversations[0]?.state !== "working") continue;
    expect(conversations).toMatchObject([{ kind: "cli", model: "offline", pid: child.pid }]);
    break;
  }
  child.kill("SIGKILL");
  while ((await ownSockets(env)).length > 0) await new Promise((resolve) => setImmediate(resolve));
});

test("a command ends as usual while somebody is connected and does not hang up", async () => {
  const cli = await Cli.open();
  const env = { XDG_RUNTIME_DIR: await temporaryFolder() };
  const child = cli.start(["chat", "hello"], { env, middle: "hold" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await saysOn(child.stdout, "I am");
  const [path = ""] = await ownSockets(env);
  const caller = connect({ path, allowHalfOpen: true });
  onTestFinished(() => void caller.destroy());
  caller.write(`${JSON.stringify({ type: "hello", protocol: controlProtocol, version: "0" })}\n`);
  await once(caller, "data");
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([130, null]);
});
