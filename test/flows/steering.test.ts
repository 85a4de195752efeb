import { expect, test } from "vitest";
import * as z from "zod";
import { maxQueuedInputs } from "../../src/actors/conversation/conversation.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { copyAsAfterCrash } from "../support/copy-as-after-crash.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { assistant, beginsAndHangs, calls, says, scripted, user, type Reply } from "../support/scripted-provider.js";

function openGate() {
  let open: (() => void) | undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open?.(), opened };
}

/** A tool whose call ends when the test says so. */
function gatedTool() {
  const begun = openGate();
  const finish = openGate();
  const tool = defineTool({
    name: "wait",
    description: "",
    parameters: z.strictObject({}),
    readOnly: true,
    run: async () => {
      begun.open();
      await finish.opened;
      return "waited";
    },
  });
  return { tool, begun, finish };
}

async function openInCall(replies: Iterable<Reply>) {
  const { tool, begun, finish } = gatedTool();
  const provider = scripted(replies);
  const opened = await openConversation({ provider, tools: [tool] });
  const id = await opened.conversation.submit("go");
  await begun.opened;
  return { ...opened, id, provider, finish };
}

test("a steered message joins the running turn before its next model call", async () => {
  const { conversation, events, provider, finish, id } = await openInCall([calls("wait", "c1"), says("both done")]);
  const steered = await conversation.steer("also this");
  expect(steered).toEqual({ status: "accepted", id: expect.any(String) as string });
  finish.open();
  expect(await events.until("task_complete")).toMatchObject({ turn_id: id, last_agent_message: "both done" });
  expect(provider.requests[1]?.input.slice(-2)).toEqual([
    { type: "function_call_output", call_id: "c1", output: "waited" },
    user("also this"),
  ]);
  const messages = events.seen.filter(({ msg }) => msg.type === "user_message").map((event) => event.id);
  expect(messages).toEqual([id, steered.id]);
  expect(conversation.turns).toBe(1);
});

test("a message that is steered while the model answers gets an answer in the same turn", async () => {
  const asked = openGate();
  const provider = {
    name: "scripted",
    calls: 0,
    async *stream() {
      this.calls += 1;
      if (this.calls === 1) {
        yield { type: "text_delta", itemId: "1", delta: "fi" } as const;
        await asked.opened;
      }
      yield* says(this.calls === 1 ? "first" : "second") as Iterable<never>;
    },
  };
  const { conversation, events } = await openConversation({ provider });
  await conversation.submit("one");
  await events.until("agent_message_delta");
  await conversation.steer("two");
  asked.open();
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "second" });
  expect(await conversation.readHistory()).toEqual([user("one"), assistant("first"), user("two"), assistant("second")]);
  expect(conversation.turns).toBe(1);
});

test("without a turn a steered message begins one", async () => {
  const { conversation, events } = await openConversation({ provider: scripted([says("hello")]) });
  const { id } = await conversation.steer("hi");
  expect(await events.until("task_complete")).toMatchObject({ turn_id: id, last_agent_message: "hello" });
});

test("messages of a turn that ends before it used them begin the next turn, before queued ones", async () => {
  const replies = [beginsAndHangs("…"), says("steered"), says("queued")];
  const provider = scripted(replies);
  const { conversation, events } = await openConversation({ provider });
  await conversation.submit("go");
  await events.until("agent_message_delta");
  const queued = await conversation.queue("later");
  const steered = await conversation.steer("now");
  await conversation.steer("and this");
  await conversation.interrupt();
  await events.until("turn_aborted");
  expect(await events.until("task_complete")).toMatchObject({ turn_id: steered.id, last_agent_message: "steered" });
  expect(provider.requests[1]?.input.slice(-2)).toEqual([user("now"), user("and this")]);
  expect(await events.until("task_complete")).toMatchObject({ turn_id: queued.id, last_agent_message: "queued" });
});

test("a queued message waits for the end of the turn", async () => {
  const { conversation, events, finish, id } = await openInCall([calls("wait", "c1"), says("one"), says("two")]);
  const queued = await conversation.queue("next");
  finish.open();
  expect(await events.until("task_complete")).toMatchObject({ turn_id: id, last_agent_message: "one" });
  expect(await events.until("task_complete")).toMatchObject({ turn_id: queued.id, last_agent_message: "two" });
});

test("steered messages beyond the limit are refused", async () => {
  const { conversation, events, finish } = await openInCall([calls("wait", "c1"), says("done")]);
  for (let n = 0; n < maxQueuedInputs; n++) await conversation.steer(`${n}`);
  await expect(conversation.steer("one too many")).rejects.toMatchObject({ code: "busy" });
  finish.open();
  await events.until("task_complete");
  expect(events.seen.filter(({ msg }) => msg.type === "user_message")).toHaveLength(1 + maxQueuedInputs);
});

test("an input that has not begun can be withdrawn", async () => {
  const { conversation, events, finish, id } = await openInCall([calls("wait", "c1"), says("done")]);
  const steered = await conversation.steer("never mind");
  const queued = await conversation.queue("nor this");
  expect(await conversation.withdraw(steered.id)).toBe(true);
  expect(await conversation.withdraw(queued.id)).toBe(true);
  expect(await conversation.withdraw(queued.id)).toBe(false);
  expect(await conversation.withdraw(id)).toBe(false);
  finish.open();
  await events.until("task_complete");
  const errors = events.seen.filter(({ msg }) => msg.type === "error").map((event) => event.id);
  expect(errors).toEqual([steered.id, queued.id]);
  expect(JSON.stringify(await conversation.readHistory())).not.toContain("never mind");
  expect(conversation.turns).toBe(1);
});

test("an input with a key is accepted once: while it waits, while it runs, and after its turn", async () => {
  const { conversation, events, finish } = await openInCall([calls("wait", "c1"), says("one"), says("two")]);
  const steered = await conversation.steer("steered", { key: "a" });
  const queued = await conversation.queue("queued", { key: "b" });
  expect(await conversation.steer("steered", { key: "a" })).toEqual({ status: "duplicate", id: steered.id });
  expect(await conversation.queue("queued", { key: "b" })).toEqual({ status: "duplicate", id: queued.id });
  finish.open();
  await events.until("task_complete");
  await events.until("task_complete");
  expect(await conversation.steer("steered", { key: "a" })).toEqual({ status: "duplicate", id: steered.id });
  const items = [{ type: "text" as const, text: "queued" }];
  expect(await conversation.submit({ type: "user_input", items, key: "b" })).toBe(queued.id);
  expect(conversation.turns).toBe(2);
});

test("keys are known after a restart and after a compaction", async () => {
  const provider = scripted([says("one"), says("two"), says("three")]);
  const { conversation, conversationId, events, cwd } = await openConversation({ provider });
  const first = await conversation.queue("first", { key: "a" });
  await events.until("task_complete");
  await conversation.replaceHistory([user("a summary")]);
  const crashed = await copyAsAfterCrash(conversation);
  const { manager } = await openManager({ home: crashed, cwd, providers: [provider] });
  const resumed = await manager.resumeConversation(conversationId);
  expect(await resumed.queue("first", { key: "a" })).toEqual({ status: "duplicate", id: first.id });
  const log = new EventLog(resumed);
  await resumed.queue("second", { key: "b" });
  await log.until("task_complete");
  expect(resumed.turns).toBe(2);
});

test("an input whose process died before it began is accepted again under its key", async () => {
  const provider = scripted([beginsAndHangs("…"), says("answer")]);
  const { conversation, conversationId, events, cwd } = await openConversation({ provider });
  await conversation.submit("go");
  await events.until("agent_message_delta");
  await conversation.queue("later", { key: "a" });
  const crashed = await copyAsAfterCrash(conversation);
  const { manager } = await openManager({ home: crashed, cwd, providers: [provider] });
  const resumed = await manager.resumeConversation(conversationId);
  expect(await resumed.queue("later", { key: "a" })).toMatchObject({ status: "accepted" });
  expect(await new EventLog(resumed).until("task_complete")).toMatchObject({ last_agent_message: "answer" });
});

test("only inputs with a key, or steered or queued ones, are marked in the file", async () => {
  const { conversation, events } = await openConversation({ provider: scripted([says("one"), says("two")]) });
  await conversation.submit("plain");
  await events.until("task_complete");
  const { id } = await conversation.queue("named", { key: "a" });
  await events.until("task_complete");
  const lines = await rolloutLines(conversation.rolloutPath);
  const messages = lines.map(({ payload }) => payload).filter(({ type }) => type === "user_message");
  expect(messages).toEqual([
    { type: "user_message", message: "plain", images: [] },
    { type: "user_message", message: "named", images: [], submission_id: id, key: "a" },
  ]);
});

test("a hook that blocks a steered message keeps it from the model, and the turn ends", async () => {
  const { tool, begun, finish } = gatedTool();
  const provider = scripted([calls("wait", "c1"), says("done")]);
  const { conversation, events } = await openConversation({
    provider,
    tools: [tool],
    hooks: {
      UserPromptSubmit: [
        {
          hooks: [
            (input) => ("prompt" in input && input.prompt === "bad" ? { decision: "block", reason: "no" } : undefined),
          ],
        },
      ],
    },
  });
  await conversation.submit("go");
  await begun.opened;
  const { id } = await conversation.steer("bad");
  finish.open();
  const { message } = await events.until("error");
  expect([message, events.seen.at(-1)?.id]).toEqual(["the message was not sent, because a hook blocked it: no", id]);
  await events.until("task_complete");
  expect(provider.requests).toHaveLength(2);
  expect(JSON.stringify(await conversation.readHistory())).not.toContain("bad");
});

test("steered messages are refused when the conversation ends, and a key has a limit", async () => {
  const { conversation, finish } = await openInCall([calls("wait", "c1"), says("done")]);
  await expect(conversation.steer("x", { key: "ä" })).rejects.toThrow("key: expected 1 to 200 printable ASCII");
  const { id } = await conversation.steer("too late");
  const ended = conversation.shutdown();
  finish.open();
  await ended;
  const errors = [];
  for await (const event of conversation.events({ since: 0 })) if (event.msg.type === "error") errors.push(event.id);
  expect(errors).toEqual([id]);
});
