import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import * as z from "zod";
import type { ResumeConfig } from "../../src/messages/settings/conversation-config.js";
import type { Config } from "../../src/messages/settings/config.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { copyAsAfterCrash } from "../support/copy-as-after-crash.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { callsAll, type Reply, says, scripted } from "../support/scripted-provider.js";

function effectTool(readOnly: boolean) {
  const runs: string[] = [];
  const tool = defineTool({
    name: "effect",
    description: "",
    parameters: z.strictObject({ what: z.string().default("default") }),
    readOnly,
    command: ({ what }, { cwd }) => ({ argv: ["effect", what], cwd }),
    run: ({ what }) => {
      runs.push(what);
      return `did ${what}`;
    },
  });
  return { runs, tool };
}

/** Leaves the files of a process that was killed while it waited for approval of the first of these calls. */
async function killedWhileAsking(reply: Reply) {
  const { runs, tool } = effectTool(false);
  const opened = await openConversation({ provider: scripted([reply]), tools: [tool] });
  await opened.conversation.submit("go");
  const asked = await opened.events.until("exec_approval_request");
  return { ...opened, asked, runs, home: await copyAsAfterCrash(opened.conversation) };
}

interface ResumeOptions {
  readonly asked?: ResumeConfig;
  readonly config?: Config;
  readonly readOnly?: boolean;
}

async function resumed(home: string, conversationId: string, options: ResumeOptions = {}) {
  const { asked, config = {}, readOnly = false } = options;
  const { runs, tool } = effectTool(readOnly);
  const provider = scripted([says("ok"), says("ok")]);
  const { manager } = await openManager({ home, providers: [provider], tools: [tool], config });
  const conversation = await manager.resumeConversation(conversationId, asked);
  return { manager, provider, runs, conversation, events: new EventLog(conversation) };
}

const one = callsAll({ name: "effect", callId: "a", arguments: '{"what":"one"}' });

test.each([true, false])(
  "a call left by a crash needs approval even where calls run without it (reads only: %s)",
  async (readOnly) => {
    const { home, conversationId } = await killedWhileAsking(one);
    const asked: ResumeConfig = { sandbox: "danger-full-access" };
    const { conversation, events, runs } = await resumed(home, conversationId, { asked, readOnly });
    const { approval_id: id, reason } = await events.until("exec_approval_request");
    expect(reason).toBe("cody was interrupted before this call had a result");
    expect(runs).toEqual([]);
    await conversation.submit({ type: "exec_approval", id, decision: "approved" });
    await events.until("task_complete");
    expect(runs).toEqual(["one"]);
  },
);

test("a call whose secret is not in the file is not run, and the model is told to repeat it", async () => {
  const { home, conversationId, asked } = await killedWhileAsking(
    callsAll({ name: "effect", callId: "a", arguments: '{"what":"password=hunter2"}' }),
  );
  expect(asked.command).toEqual(["effect", "password=hunter2"]);
  const { events, runs, provider } = await resumed(home, conversationId);
  await events.until("task_complete");
  expect(events.types()).not.toContain("exec_approval_request");
  expect(runs).toEqual([]);
  expect(provider.requests[0]?.input.at(-1)).toEqual({
    type: "function_call_output",
    call_id: "a",
    output: "not run: a secret in its arguments was not written to disk; make the call again",
    success: false,
  });
});

test("under never a call left by a crash is refused", async () => {
  const { home, conversationId } = await killedWhileAsking(one);
  const asked: ResumeConfig = { approvalPolicy: "never", sandbox: "danger-full-access" };
  const { events, runs } = await resumed(home, conversationId, { asked });
  await events.until("task_complete");
  expect(runs).toEqual([]);
});

test("a call that was invalid before a crash is still invalid after it", async () => {
  const { home, conversationId } = await killedWhileAsking(
    callsAll(
      { name: "effect", callId: "a", arguments: '{"what":"one"}' },
      { name: "effect", callId: "b", arguments: "{broken" },
      { name: "effect", callId: "a", arguments: '{"what":"doubled"}' },
    ),
  );
  const { conversation, events, runs, provider } = await resumed(home, conversationId);
  const { approval_id: id } = await events.until("exec_approval_request");
  await conversation.submit({ type: "exec_approval", id, decision: "approved" });
  await events.until("task_complete");
  expect(runs).toEqual(["one"]);
  const outputs = provider.requests[0]?.input.filter(({ type }) => type === "function_call_output");
  expect(outputs).toHaveLength(3);
});

test("a fork of a conversation with an open request does not ask again", async () => {
  const { manager, conversation, conversationId, events, asked, runs } = await killedWhileAsking(one);
  const fork = await manager.forkConversation(conversationId);
  const forked = new EventLog(fork.conversation);
  await forked.until("turn_aborted");
  expect(fork.conversation.openTurn).toBeUndefined();
  expect(fork.conversation.getHistory()).toContainEqual({
    type: "function_call_output",
    call_id: "a",
    output: "not run: it was not approved",
  });
  await conversation.submit({ type: "exec_approval", id: asked.approval_id, decision: "abort" });
  await events.until("turn_aborted");
  expect(runs).toEqual([]);
});

test("an unsaved resume does not continue the file's open turn, or every such resume would run it", async () => {
  const { home, conversationId } = await killedWhileAsking(one);
  for (let round = 0; round < 2; round++) {
    const { manager, events, runs, conversation } = await resumed(home, conversationId, {
      config: { persistence: { enabled: false } },
    });
    await events.until("turn_aborted");
    expect(conversation.openTurn).toBeUndefined();
    expect(runs).toEqual([]);
    await manager.shutdown();
  }
});

test("a request without an open turn is closed with the rest", async () => {
  const { home, conversationId } = await killedWhileAsking(one);
  const path = `${home}/conversations/${conversationId}.jsonl`;
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => !line.includes('"task_started"'));
  await writeFile(path, lines.join("\n"));
  const { conversation, events, provider } = await resumed(home, conversationId);
  await conversation.submit("go on");
  await events.until("task_complete");
  const types = provider.requests[0]?.input.map(({ type }) => type);
  expect(types).toEqual(["message", "function_call", "function_call_output", "message"]);
});
