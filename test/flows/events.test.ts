import { expect, test } from "vitest";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import { ConversationManager } from "../../src/manager.js";
import type { Event } from "../../src/messages/event.js";
import { crashingTool } from "../support/busy-provider.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { maxQueuedInputs } from "../../src/actors/conversation/conversation.js";
import { beginsAndHangs, calls, fails, says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("nextEvent and the first events() share one position in the queue", async () => {
  const { conversation } = await openConversationWithoutLog();
  expect((await conversation.nextEvent()).msg.type).toBe("session_configured");
  await conversation.submit("Hi");
  const seen: string[] = [];
  for await (const event of conversation.events()) {
    seen.push(event.msg.type);
    if (event.msg.type === "task_complete") break;
  }
  expect(seen[0]).toBe("task_started");
});

test("a reader that leaves its loop keeps its position, so the next turn is read from its start", async () => {
  const provider = scripted([says("one"), says("two")]);
  const { manager } = await openManager({ providers: [provider] });
  const { conversation } = await manager.newConversation({ provider: "scripted", model: "m" });
  const turns: string[][] = [];
  for (const text of ["first", "second"]) {
    await conversation.submit(text);
    const seen: string[] = [];
    for await (const { msg } of conversation.events()) {
      seen.push(msg.type);
      if (msg.type === "task_complete") break;
    }
    turns.push(seen);
  }
  expect(turns[0]?.slice(0, 2)).toEqual(["session_configured", "task_started"]);
  expect(turns[1]?.[0]).toBe("task_started");
  const next = conversation.nextEvent();
  await conversation.shutdown();
  expect((await next).msg.type).toBe("shutdown_complete");
  await expect(conversation.nextEvent()).rejects.toThrow("has ended");
});

test("a waiting reader can be stopped from outside, and the next reader misses no event", async () => {
  const { conversation } = await openConversation({ provider: scripted([says("Hello")]) });
  const events = conversation.events();
  const types: string[] = [];
  const loop = (async () => {
    for await (const { msg } of events) types.push(msg.type);
  })();
  await new Promise(setImmediate);
  await events.return?.();
  await loop;
  expect(types).toEqual(["session_configured"]);
  await conversation.submit("Hi");
  expect((await conversation.nextEvent()).msg.type).toBe("task_started");
});

test("a later reader starts at the position it asks for", async () => {
  const { conversation, events } = await openConversation({ provider: scripted([says("Hello")]) });
  await conversation.submit("Hi");
  await events.until("task_complete");
  const from = events.seen[3];
  const again: Event[] = [];
  for await (const event of conversation.events({ since: from?.seq ?? 0 })) {
    again.push(event);
    if (event.msg.type === "task_complete") break;
  }
  expect(again).toEqual(events.seen.slice(3));
});

test.each([-1, 1.5, Number.NaN])("a reader cannot start at %d", async (since) => {
  const { conversation } = await openConversation({ provider: scripted([]) });
  expect(() => conversation.events({ since })).toThrow("since: expected the number of an event");
});

test("a reader that does not read gets merged deltas and no gap", async () => {
  const deltas = Array.from({ length: 5000 }, () => ({ type: "text_delta", itemId: "item", delta: "ab" }) as const);
  const provider = scripted([[...deltas, ...says("end")]]);
  const { conversation, events } = await openConversation({ provider });
  const slow = conversation.events({ since: 0 });
  await conversation.submit("Talk a lot");
  await events.until("task_complete");
  let text = "";
  let last = -1;
  for await (const { seq, msg } of slow) {
    expect(seq).toBeGreaterThan(last);
    last = seq;
    if (msg.type === "agent_message_delta") text += msg.delta;
    expect(msg.type).not.toBe("lagged");
    if (msg.type === "task_complete") break;
  }
  expect(text).toBe(`${"ab".repeat(5000)}end`);
});

test("the manager streams the events of all conversations", async () => {
  const { manager } = await openManager();
  const all = manager.events();
  const one = await manager.newConversation();
  const two = await manager.newConversation();
  await one.conversation.processMessage("What is 1+1?");
  await two.conversation.processMessage("What is 2+2?");
  const ended = new Set<string>();
  for await (const { conversation_id, msg } of all) {
    if (msg.type === "task_complete") ended.add(conversation_id);
    if (ended.size === 2) break;
  }
  expect(ended).toEqual(new Set([one.conversationId, two.conversationId]));
});

test("waiting for the next event of all conversations can be aborted", async () => {
  const { manager } = await openManager();
  const events = manager.events();
  const next = events.next();
  expect(await events.return?.()).toEqual({ done: true, value: undefined });
  expect(await next).toEqual({ done: true, value: undefined });
});

test("the stream of all events has ended for readers that start after the shutdown", async () => {
  const { manager } = await openManager();
  const before = manager.events();
  await manager.shutdown();
  expect(await before.next()).toEqual({ done: true, value: undefined });
  expect(await manager.events().next()).toEqual({ done: true, value: undefined });

  const { manager: unread } = await openManager();
  await unread.shutdown();
  expect(await unread.events().next()).toEqual({ done: true, value: undefined });
});

test("shutdown ends a running turn and its events, and refuses every later call", async () => {
  const { manager } = await openManager({
    providers: [scripted([[{ type: "text_delta", itemId: "1", delta: "x" }, { type: "hang" }]])],
  });
  const { conversation } = await manager.newConversation({ provider: "scripted", model: "m" });
  const events = new EventLog(conversation);
  await conversation.submit("Hi");
  await events.until("agent_message_delta");
  await manager.shutdown();
  await events.until("turn_aborted");
  await events.until("shutdown_complete");
  await expect(events.until("warning")).rejects.toThrow("the events ended");
  const refusal = { code: "actor_stopped", message: `conversation ${conversation.id} has ended` };
  await expect(conversation.submit("more")).rejects.toMatchObject(refusal);
  await expect(conversation.readHistory()).rejects.toMatchObject(refusal);
  await expect(manager.newConversation()).rejects.toThrow("the manager has been shut down");
  expect(manager.getConversation(conversation.id)).toBeUndefined();
});

test("a conversation whose own code fails is restarted: its turn is aborted, queued input is played", async () => {
  const provider = scripted([calls("crash", "call"), says("ok")]);
  const { manager } = await openManager({ providers: [provider], tools: [crashingTool] });
  const { conversation } = await manager.newConversation({ provider: "scripted", model: "scripted" });
  const events = new EventLog(conversation);
  await conversation.submit("first");
  await conversation.submit("second");
  await events.until("turn_aborted");
  const end = await events.untilAny(["task_complete", "turn_aborted"]);
  expect(end.type).toBe("task_complete");
  expect(events.types()).toContain("error");
  expect(conversation.getHistory().filter((entry) => entry.type === "message" && entry.role === "user")).toHaveLength(
    3,
  );
});

test("`await using` shuts a manager and a conversation down at the end of the block", async () => {
  const home = await temporaryFolder();
  let kept: Conversation;
  let closed: Conversation;
  {
    await using manager = new ConversationManager({ home, cwd: home });
    ({ conversation: kept } = await manager.newConversation());
    {
      await using conversation = (await manager.newConversation()).conversation;
      closed = conversation;
    }
    expect(manager.getConversation(kept.id)).toBe(kept);
    expect(manager.getConversation(closed.id)).toBeUndefined();
  }
  await expect(kept.submit("more")).rejects.toMatchObject({ code: "actor_stopped" });
});

test("the op shutdown ends a conversation as the method does", async () => {
  const { manager, conversation, conversationId, events } = await openConversation({
    provider: scripted([says("one")]),
  });
  await conversation.submit("Hi");
  await conversation.submit({ type: "shutdown" });
  await events.until("shutdown_complete");
  await expect(events.until("warning")).rejects.toThrow("the events ended");
  await conversation.ending;
  expect(manager.getConversation(conversationId)).toBeUndefined();
  expect(await manager.resumeConversation(conversationId)).not.toBe(conversation);
});

test("resuming a conversation that is shutting down waits for its end", async () => {
  const { manager, conversation, conversationId } = await openConversation({ provider: scripted([says("one")]) });
  await conversation.processMessage("Hi");
  const ending = conversation.shutdown();
  const resumed = await manager.resumeConversation(conversationId);
  await ending;
  expect(resumed).not.toBe(conversation);
  expect(resumed.getHistory()).toHaveLength(2);
});

test("a conversation opened during the manager's shutdown is refused and left closed", async () => {
  const { manager, home } = await openManager();
  const opening = manager.newConversation({ id: "late" }).catch(String);
  await manager.shutdown();
  expect(await opening).toContain("the manager has been shut down");
  const second = await openManager({ home });
  const resumed = await second.manager.resumeConversation("late", { allowEmpty: true });
  expect(resumed.getHistory()).toEqual([]);
});

test("processMessage rejects when its input is refused or its turn fails", async () => {
  const replies = [beginsAndHangs("…"), ...Array.from({ length: maxQueuedInputs }, () => fails("auth", false))];
  const { conversation, events } = await openConversation({ provider: scripted(replies) });
  const first = conversation.processMessage("first");
  await events.until("agent_message_delta");
  const queued = Array.from({ length: maxQueuedInputs }, () => conversation.processMessage("queued"));
  await expect(conversation.processMessage("one too many")).rejects.toMatchObject({
    failure: { code: "busy", retryable: true },
  });
  await conversation.interrupt();
  expect(await first).toHaveLength(2);
  const outcomes = await Promise.allSettled(queued);
  expect(outcomes.map(({ status }) => status)).toEqual(queued.map(() => "rejected"));
});

test("failures say whether a retry may succeed", async () => {
  const { conversation, events } = await openConversation({
    provider: scripted([fails("overloaded", false), fails("auth", false), beginsAndHangs("…")]),
  });
  const failing = { overloaded: true, auth: false };
  for (const [code, retryable] of Object.entries(failing)) {
    await expect(conversation.processMessage("hi")).rejects.toMatchObject({ failure: { code, retryable } });
  }
  await conversation.submit("hi");
  await events.until("agent_message_delta");
  const waiting = conversation.processMessage("one more");
  const refusal = waiting.catch((error: unknown) => error);
  await conversation.shutdown();
  expect(await refusal).toMatchObject({ failure: { code: "actor_stopped", retryable: false } });
});

test("a conversation that fails for good ends its turn and answers every pending call", async () => {
  let broken = false;
  const now = () => {
    if (broken) throw new Error("the clock is broken");
    return new Date();
  };
  const provider = scripted(Array.from({ length: 10 }, () => says("ok")));
  const { conversation, events } = await openConversation({ provider, now, idleAfter: Infinity });
  await conversation.processMessage("works");
  broken = true;
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) ids.push(await conversation.submit(`number ${n}`).catch(() => "refused"));
  await expect(events.until("lagged")).rejects.toThrow("the events ended");
  const ended = new Set(
    events.seen.filter(({ msg }) => ["error", "turn_aborted", "task_complete"].includes(msg.type)).map(({ id }) => id),
  );
  expect(ids.filter((id) => id !== "refused" && !ended.has(id))).toEqual([]);
});

async function openConversationWithoutLog() {
  const { manager } = await openManager({ providers: [scripted([says("Hello")])] });
  return await manager.newConversation({ provider: "scripted", model: "m" });
}
