import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MockReply } from "../../src/mock-llm/script.js";
import type { MockLlm } from "../../src/mock-llm/server.js";
import { copyAsAfterCrash } from "../support/copy-as-after-crash.js";
import { EventLog } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { mockLlm, type SpokenApi, wireApis, wireManager } from "../support/wire-apis.js";

const input = "*** Begin Patch\n*** Update File: a.txt\n-old\n+new\n*** End Patch\n";
const patching: MockReply = { reasoning: "Hm.", calls: [{ name: "apply_patch", input, id: "call_p" }] };
const output = "Success. Updated the following files:\nM a.txt";
const [responses, chat, messages] = wireApis as [SpokenApi, SpokenApi, SpokenApi];
const approve = { approve: () => "approved" as const };

type Body = Readonly<Record<"tools" | "input" | "messages", readonly Readonly<Record<string, unknown>>[]>>;

function bodies({ requests }: MockLlm): Body[] {
  return requests.map(({ body }) => body as Body);
}

function ofCalls(body: Body | undefined) {
  return body?.input.filter(({ type }) => String(type).includes("_call"));
}

async function open(replies: readonly MockReply[], spoken = responses, home?: string) {
  const mock = await mockLlm(replies);
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "a.txt"), "old\n");
  const opened = await wireManager(mock, spoken, { cwd, ...(home === undefined ? {} : { home }) });
  return { mock, ...opened };
}

test("a plain-text patch is approved, applied and answered, and is sent back after a resume", async () => {
  const { mock, manager, home, cwd } = await open([patching, { text: "Done" }, { text: "Yes" }]);
  const { conversation, conversationId } = await manager.newConversation();
  const events = new EventLog(conversation);
  await conversation.submit("Patch it");
  const asked = await events.until("apply_patch_approval_request");
  expect(asked).toMatchObject({ call_id: "call_p", changes: { [join(cwd, "a.txt")]: { type: "update" } } });
  await conversation.submit({ type: "patch_approval", id: asked.approval_id, decision: "approved" });
  expect(await events.until("patch_apply_begin")).toMatchObject({ call_id: "call_p", auto_approved: false });
  expect(await events.until("patch_apply_end")).toMatchObject({ call_id: "call_p", success: true });
  await events.until("task_complete");
  expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("new\n");

  const call = { type: "custom_tool_call", name: "apply_patch", input, call_id: "call_p" };
  const answer = { type: "custom_tool_call_output", call_id: "call_p", output };
  const saved = (await rolloutLines(conversation.rolloutPath)).filter(({ type }) => type === "response_item");
  const ofTools = saved.flatMap(({ payload }) => (String(payload["type"]).startsWith("custom") ? [payload] : []));
  expect(ofTools).toEqual([{ ...call, status: "completed" }, answer]);
  await manager.shutdown();

  const after = await wireManager(mock, responses, { home, cwd });
  await (await after.manager.resumeConversation(conversationId)).processMessage("Really?");
  expect(mock.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined]);
  expect(bodies(mock).slice(1).map(ofCalls)).toEqual([
    [call, answer],
    [call, answer],
  ]);
});

test("apply_patch is offered as a custom tool only to a model and an API that support it", async () => {
  const offered: Record<string, unknown> = {};
  const olderModel = { ...responses, model: "gpt-4o" };
  for (const spoken of [responses, olderModel, chat, messages]) {
    const { mock, manager } = await open([{ text: "Hi" }], spoken);
    await (await manager.newConversation()).conversation.processMessage("Hi");
    const tool = bodies(mock)[0]?.tools.find((one) => JSON.stringify(one).includes('"name":"apply_patch"'));
    offered[`${spoken.api} ${spoken.model}`] = tool;
  }
  const description = expect.stringContaining("*** Begin Patch");
  const parameters = expect.objectContaining({ type: "object" });
  const asFunction = { name: "apply_patch", description, parameters };
  expect(offered).toEqual({
    "responses gpt-5": { type: "custom", name: "apply_patch", description, format: { type: "text" } },
    "responses gpt-4o": { type: "function", strict: false, ...asFunction },
    "chat gpt-4o": { type: "function", function: asFunction },
    "messages claude-sonnet-4-20250514": { name: "apply_patch", description, input_schema: parameters },
  });
});

test("a custom tool call is sent as an ordinary call over other APIs, and unchanged over its own", async () => {
  const replies = [patching, ...["Done", "one", "two", "three", "four"].map((text) => ({ text }))];
  const { mock, manager, home, cwd } = await open(replies);
  const { conversation, conversationId } = await manager.newConversation();
  await conversation.processMessage("Patch it", approve);
  await manager.shutdown();
  const places = [chat, messages, { ...responses, model: "gpt-4o" }, responses];
  for (const spoken of places) {
    const { manager: next } = await wireManager(mock, spoken, { home, cwd });
    const { provider, model } = spoken;
    await (await next.resumeConversation(conversationId, { provider, model })).processMessage("And now?");
    await next.shutdown();
  }
  expect(mock.requests.map(({ path, refusal }) => [path, refusal])).toEqual(
    [responses, responses, ...places].map(({ path }) => [path, undefined]),
  );
  const [, , overChat, overMessages, older, back] = bodies(mock);
  const args = JSON.stringify({ input });
  const called = { id: "call_p", type: "function", function: { name: "apply_patch", arguments: args } };
  expect(overChat?.messages).toContainEqual(expect.objectContaining({ role: "assistant", tool_calls: [called] }));
  expect(overChat?.messages).toContainEqual({ role: "tool", tool_call_id: "call_p", content: output });
  const blocks = overMessages?.messages.flatMap(({ content }) => content);
  expect(blocks).toContainEqual({ type: "tool_use", id: "call_p", name: "apply_patch", input: { input } });
  expect(blocks).toContainEqual({ type: "tool_result", tool_use_id: "call_p", content: output });
  expect(ofCalls(older)).toEqual([
    { type: "function_call", name: "apply_patch", arguments: args, call_id: "call_p" },
    { type: "function_call_output", call_id: "call_p", output },
  ]);
  expect(ofCalls(back)).toEqual([
    { type: "custom_tool_call", name: "apply_patch", input, call_id: "call_p" },
    { type: "custom_tool_call_output", call_id: "call_p", output },
  ]);
});

test("a custom tool call awaiting approval when its process died is asked about again, and applied", async () => {
  const { mock, manager, cwd } = await open([patching, { text: "Done" }]);
  const { conversation, conversationId } = await manager.newConversation();
  const events = new EventLog(conversation);
  await conversation.submit("Patch it");
  await events.until("apply_patch_approval_request");
  const left = await copyAsAfterCrash(conversation);
  const after = await wireManager(mock, responses, { home: left, cwd });
  const resumed = await after.manager.resumeConversation(conversationId);
  const resumedEvents = new EventLog(resumed);
  const { approval_id: id } = await resumedEvents.until("apply_patch_approval_request");
  await resumed.submit({ type: "patch_approval", id, decision: "approved" });
  expect(await resumedEvents.until("task_complete")).toMatchObject({ last_agent_message: "Done" });
  expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("new\n");
  expect(mock.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined]);
});

test("a custom tool call interrupted before its output is closed, and the next request is accepted", async () => {
  const { mock, manager, cwd } = await open([patching, { text: "As you like" }]);
  const { conversation } = await manager.newConversation();
  const events = new EventLog(conversation);
  await conversation.submit("Patch it");
  await events.until("apply_patch_approval_request");
  await conversation.interrupt();
  await events.until("turn_aborted");
  await conversation.submit("Never mind");
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "As you like" });
  expect(ofCalls(bodies(mock)[1])).toMatchObject([
    { type: "custom_tool_call", call_id: "call_p" },
    { type: "custom_tool_call_output", call_id: "call_p", output: "aborted by the user" },
  ]);
  expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("old\n");
});

test("plain text for a tool that takes arguments, or for an unknown tool, gets an error and runs nothing", async () => {
  const calls = ["shell", "no_such_tool"].map((name) => ({ name, input: "ls", id: `call_${name}` }));
  const { mock, manager } = await open([{ calls }, { text: "Oh" }]);
  await (await manager.newConversation()).conversation.processMessage("Go", approve);
  const outputs = ofCalls(bodies(mock)[1])?.filter(({ type }) => type === "custom_tool_call_output");
  expect(outputs?.map((item) => item["output"])).toEqual([
    "shell needs JSON arguments, not text; nothing was run",
    "unknown tool no_such_tool",
  ]);
});
