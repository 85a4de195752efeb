import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { ConversationInUseError } from "../../src/base/errors.js";
import type { ReviewDecision } from "../../src/messages/tools/approval.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { assistant, beginsAndHangs, calls, says, scripted, user } from "../support/scripted-provider.js";

test("a sleeping conversation wakes with the next message, and its readers see one stream of events", async () => {
  const { conversation, events } = await openConversation({ provider: scripted([says("one"), says("two")]) });
  await conversation.submit("first");
  await events.until("task_complete");
  expect(await conversation.sleep()).toBe(true);
  expect(conversation.isAwake).toBe(false);
  await conversation.submit("second");
  await events.until("task_complete");
  expect(conversation.isAwake).toBe(true);
  expect(events.types().filter((type) => type === "session_configured")).toHaveLength(1);
  expect(events.seen.map(({ seq }) => seq)).toEqual(events.seen.map((_, index) => index));
  expect(conversation.getHistory()).toEqual([user("first"), assistant("one"), user("second"), assistant("two")]);
});

test("a sleeping conversation answers from its mirror and its file without waking", async () => {
  const { conversation } = await openConversation({ provider: scripted([says("one")]) });
  await conversation.processMessage("first");
  await conversation.rename("A name");
  const before = {
    settings: conversation.settings,
    usage: conversation.usage,
    history: conversation.getHistory(),
    turns: conversation.history.turns,
    prompt: conversation.getInitialContext(),
  };
  expect(await conversation.sleep()).toBe(true);
  expect({
    settings: conversation.settings,
    usage: conversation.usage,
    history: conversation.getHistory(),
    turns: conversation.history.turns,
    prompt: conversation.getInitialContext(),
  }).toEqual(before);
  expect(conversation).toMatchObject({ name: "A name", pinned: false, turns: 1, openTurn: undefined });
  expect(await conversation.flush()).toEqual({ status: "saved" });
  await conversation.interrupt();
  expect(conversation.isAwake).toBe(false);
  expect(await conversation.readHistory()).toEqual(before.history);
  expect(conversation.isAwake).toBe(true);
});

test("changed settings survive a sleep", async () => {
  const provider = scripted([says("one"), says("two")]);
  const { conversation } = await openConversation({ provider });
  await conversation.processMessage("first");
  await conversation.submit({ type: "override_turn_context", model: "other", effort: "high" });
  await conversation.flush();
  expect(await conversation.sleep()).toBe(true);
  await conversation.processMessage("second");
  expect(provider.requests[1]).toMatchObject({ model: "other", effort: "high" });
});

test("a conversation that works does not sleep", async () => {
  const { conversation, events } = await openConversation({ provider: scripted([beginsAndHangs("Once")]) });
  await conversation.submit("go");
  await events.until("agent_message_delta");
  expect(await conversation.sleep()).toBe(false);
  expect(conversation.isAwake).toBe(true);
  await conversation.interrupt();
  await events.until("turn_aborted");
});

test("a conversation that is not saved does not sleep", async () => {
  const provider = scripted([says("one"), says("two")]);
  const { conversation } = await openConversation({ provider, config: { persistence: { enabled: false } } });
  await conversation.processMessage("first");
  expect(await conversation.sleep()).toBe(false);
});

function approvedTool() {
  const runs: string[] = [];
  const tool = defineTool({
    name: "effect",
    description: "",
    parameters: z.strictObject({ what: z.string() }),
    command: ({ what }, { cwd }) => ({ argv: ["effect", what], cwd }),
    run: ({ what }) => {
      runs.push(what);
      return `did ${what}`;
    },
  });
  return { runs, tool };
}

test("a conversation that waits for an approval sleeps, and the decision wakes it", async () => {
  const { runs, tool } = approvedTool();
  const provider = scripted([calls("effect", "c1", { what: "it" }), says("ok")]);
  const { conversation, events } = await openConversation({ provider, tools: [tool] });
  const id = await conversation.submit("go");
  const request = await events.until("exec_approval_request");
  expect(await conversation.sleep()).toBe(true);
  expect(conversation.awaitsApproval("c1")).toBe(true);
  expect(conversation.openTurn).toEqual({ turnId: id });
  await conversation.submit({ type: "exec_approval", id: request.approval_id, decision: "approved" });
  await events.until("task_complete");
  expect(runs).toEqual(["it"]);
  expect(events.seen.at(-1)?.id).toBe(id);
  expect(events.types().filter((type) => type === "exec_approval_request")).toHaveLength(1);
  const lines = await rolloutLines(conversation.rolloutPath);
  expect(lines.filter(({ payload }) => payload["type"] === "approval_decided")).toHaveLength(1);
});

test("an approval request times out while its conversation sleeps", async () => {
  const { runs, tool } = approvedTool();
  const provider = scripted([calls("effect", "c1", { what: "it" }), says("ok")]);
  const turnLimits = { approvalSeconds: 0.2 };
  const { conversation, events } = await openConversation({ provider, tools: [tool], config: { turnLimits } });
  await conversation.submit("go");
  await events.until("exec_approval_request");
  expect(await conversation.sleep()).toBe(true);
  await events.until("task_complete");
  expect(runs).toEqual([]);
  expect(provider.requests[1]?.input.at(-1)).toMatchObject({ output: expect.stringContaining("timed out") });
});

test("processMessage ends although the conversation slept while its approval was open", async () => {
  const { runs, tool } = approvedTool();
  const provider = scripted([calls("effect", "c1", { what: "it" }), says("ok")]);
  const { conversation } = await openConversation({ provider, tools: [tool] });
  const items = await conversation.processMessage("go", {
    approve: async (): Promise<ReviewDecision> => {
      expect(await conversation.sleep()).toBe(true);
      return "approved";
    },
  });
  expect(runs).toEqual(["it"]);
  expect(items.at(-1)).toEqual(assistant("ok"));
});

test("an interrupt ends a turn that waits for an approval while its conversation sleeps", async () => {
  const { runs, tool } = approvedTool();
  const provider = scripted([calls("effect", "c1", { what: "it" })]);
  const { conversation, events } = await openConversation({ provider, tools: [tool], idleAfter: Infinity });
  await conversation.submit("go");
  await events.until("exec_approval_request");
  expect(await conversation.sleep()).toBe(true);
  await conversation.interrupt();
  expect(await events.until("turn_aborted")).toMatchObject({ reason: "interrupted" });
  expect(conversation.openTurn).toBeUndefined();
  expect(runs).toEqual([]);
});

test("a shutdown ends a turn that waits for an approval while its conversation sleeps", async () => {
  const { tool } = approvedTool();
  const provider = scripted([calls("effect", "c1", { what: "it" })]);
  const { conversation, events } = await openConversation({ provider, tools: [tool], idleAfter: Infinity });
  await conversation.submit("go");
  await events.until("exec_approval_request");
  expect(await conversation.sleep()).toBe(true);
  await conversation.shutdown();
  await events.until("turn_aborted");
  await events.until("shutdown_complete");
  const lines = await rolloutLines(conversation.rolloutPath);
  expect(lines.some(({ payload }) => payload["type"] === "turn_aborted")).toBe(true);
});

test("a file that was changed during a sleep is not overwritten unseen", async () => {
  const provider = scripted([
    calls("read_file", "r1", { path: "a.txt" }),
    says("read"),
    calls("write_file", "w1", { path: "a.txt", content: "mine" }),
    says("written"),
  ]);
  const config = { sandbox: "danger-full-access" } as const;
  const { conversation, cwd } = await openConversation({ provider, config, idleAfter: Infinity });
  const file = join(cwd, "a.txt");
  await writeFile(file, "before");
  await conversation.processMessage("read it");
  expect(await conversation.sleep()).toBe(true);
  await writeFile(file, "of the user");
  await conversation.processMessage("write it");
  expect(provider.requests[3]?.input.at(-1)).toMatchObject({
    output: expect.stringContaining("changed since it was read"),
  });
  expect(await readFile(file, "utf8")).toBe("of the user");
});

test("a warning about instruction files is not repeated after a sleep", async () => {
  const provider = scripted([says("one"), says("two")]);
  const { conversation, events, cwd } = await openConversation({ provider, idleAfter: Infinity });
  await writeFile(join(cwd, "AGENTS.md"), Buffer.from([1, 2, 0, 3]));
  for (const text of ["first", "second"]) {
    await conversation.submit(text);
    await events.until("task_complete");
    expect(await conversation.sleep()).toBe(true);
  }
  expect(events.types().filter((type) => type === "warning")).toHaveLength(1);
});

test("a conversation that was created here is not recorded as resumed after a sleep", async () => {
  const provider = scripted([says("one"), says("two")]);
  const { conversation } = await openConversation({ provider, idleAfter: Infinity });
  await conversation.processMessage("first");
  expect(await conversation.sleep()).toBe(true);
  await conversation.processMessage("second");
  const contexts = (await rolloutLines(conversation.rolloutPath)).filter(({ type }) => type === "turn_context");
  expect(contexts.map(({ payload }) => payload["session_source"])).toEqual([undefined, undefined]);
});

test("a command approved for the whole conversation stays approved after a sleep", async () => {
  const { runs, tool } = approvedTool();
  const provider = scripted([
    calls("effect", "c1", { what: "it" }),
    says("ok"),
    calls("effect", "c2", { what: "it" }),
    says("again"),
  ]);
  const { conversation } = await openConversation({ provider, tools: [tool] });
  await conversation.processMessage("go", { approve: () => "approved_for_session" });
  expect(await conversation.sleep()).toBe(true);
  await conversation.processMessage("go again");
  expect(runs).toEqual(["it", "it"]);
});

test("lines that another process has appended meanwhile are part of the history after waking", async () => {
  const { conversation, home, cwd } = await openConversation({ provider: scripted([says("one"), says("three")]) });
  await conversation.processMessage("first");
  expect(await conversation.sleep()).toBe(true);
  const other = await openManager({ home, cwd, providers: [scripted([says("two")])] });
  const copy = await other.manager.resumeConversation(conversation.id, { provider: "scripted", model: "scripted" });
  await copy.processMessage("second");
  await copy.rename("Renamed");
  await copy.shutdown();
  await conversation.processMessage("third");
  expect(conversation.getHistory()).toEqual(
    ["first", "one", "second", "two", "third", "three"].map((text, index) =>
      index % 2 === 0 ? user(text) : assistant(text),
    ),
  );
  expect(conversation).toMatchObject({ name: "Renamed", turns: 3 });
});

test("a conversation that another process owns by then refuses the message, and the handle stays valid", async () => {
  const { conversation, home, cwd } = await openConversation({ provider: scripted([says("one"), says("two")]) });
  await conversation.processMessage("first");
  expect(await conversation.sleep()).toBe(true);
  const other = await openManager({ home, cwd, providers: [scripted([])] });
  const copy = await other.manager.resumeConversation(conversation.id, { provider: "scripted", model: "scripted" });
  const refusal = conversation.processMessage("second");
  await expect(refusal).rejects.toThrow(ConversationInUseError);
  await expect(refusal).rejects.toThrow(`pid ${process.pid}`);
  await copy.shutdown();
  expect(await conversation.processMessage("second")).toEqual([user("second"), assistant("two")]);
});

test("a reader that was behind is told how many events it missed", async () => {
  const { conversation } = await openConversation({ provider: scripted([says("one"), says("two")]) });
  await conversation.processMessage("first");
  expect(await conversation.sleep()).toBe(true);
  await conversation.processMessage("second");
  const events = new EventLog(conversation);
  const lagged = await events.until("lagged");
  await events.until("task_complete");
  expect(lagged.from).toBe(0);
  expect(events.seen[1]?.seq).toBe(lagged.to + 1);
});

test("a reader that starts while the conversation sleeps is told at once what it missed", async () => {
  const { conversation } = await openConversation({ provider: scripted([says("one")]) });
  await conversation.processMessage("first");
  expect(await conversation.sleep()).toBe(true);
  const { value } = await conversation.events({ since: 2 }).next();
  expect(value).toMatchObject({ msg: { type: "lagged", from: 2 } });
  expect(conversation.isAwake).toBe(false);
});

test("after a sleep the last turn has its id and status, and its contents are in the history", async () => {
  const { conversation } = await openConversation({ provider: scripted([says("one")]) });
  await conversation.processMessage("first");
  const { turnId, startedAt } = conversation.turn ?? {};
  expect(conversation.turn).toMatchObject({ text: "one", input: [{ type: "text", text: "first" }] });
  expect(await conversation.sleep()).toBe(true);
  const ended = {
    turnId,
    startedAt,
    status: { status: "completed" },
    text: "",
    reasoning: "",
    input: [],
    toolCalls: [],
  };
  expect(conversation.turn).toMatchObject(ended);
});

test("an idle conversation goes to sleep by itself", async () => {
  const provider = scripted([says("one"), says("two")]);
  const { manager } = await openManager({ providers: [provider], idleAfter: 1 });
  const { conversation } = await manager.newConversation({ provider: "scripted", model: "scripted" });
  await conversation.processMessage("first");
  await expect.poll(() => conversation.isAwake).toBe(false);
  expect(await conversation.processMessage("second")).toEqual([user("second"), assistant("two")]);
});

test("a sleeping conversation is shut down without being opened", async () => {
  const { conversation, events } = await openConversation({ provider: scripted([says("one")]) });
  await conversation.processMessage("first");
  expect(await conversation.sleep()).toBe(true);
  await conversation.shutdown();
  await events.until("shutdown_complete");
  await expect(conversation.submit("second")).rejects.toThrow("has ended");
});

test("a damaged file is reported when the conversation is used again", async () => {
  const { conversation } = await openConversation({ provider: scripted([says("one")]) });
  await conversation.processMessage("first");
  expect(await conversation.sleep()).toBe(true);
  await appendFile(conversation.rolloutPath ?? "", "{broken\n{}\n");
  expect(() => conversation.getHistory()).toThrow("not valid JSON");
  await expect(conversation.submit("second")).rejects.toThrow("not valid JSON");
});
