import { appendFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ResumeConfig } from "../../src/messages/conversation-config.js";
import type { Config } from "../../src/messages/config.js";
import { createMockRecorder } from "../support/mock-recorder.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { assistant, beginsAndHangs, calls, says, scripted, user } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("a resumed conversation has its history, its file and its settings", async () => {
  const first = await openConversation({ provider: scripted([says("Hello Alice")]) });
  await first.conversation.submit("I am Alice");
  await first.events.until("task_complete");
  await first.manager.shutdown();
  const before = await readFile(first.conversation.rolloutPath ?? "", "utf8");

  const provider = scripted([says("You are Alice")]);
  const { manager } = await openManager({ home: first.home, providers: [provider] });
  const resumed = await manager.resumeConversation(first.conversationId);
  expect(resumed.getHistory()).toEqual([user("I am Alice"), assistant("Hello Alice")]);
  expect(resumed.rolloutPath).toBe(first.conversation.rolloutPath);
  expect(resumed.settings).toMatchObject({ provider: "scripted", model: "scripted" });
  const events = new EventLog(resumed);
  expect(await events.until("session_configured")).toMatchObject({
    session_source: { resume: first.conversationId },
    initial_messages: [
      { type: "user_message", message: "I am Alice" },
      { type: "agent_message", message: "Hello Alice" },
    ],
  });
  await resumed.submit("Who am I?");
  await events.until("task_complete");
  expect(provider.requests[0]?.input).toEqual([user("I am Alice"), assistant("Hello Alice"), user("Who am I?")]);
  const after = await readFile(first.conversation.rolloutPath ?? "", "utf8");
  expect(after.startsWith(before)).toBe(true);
});

test("resuming three times writes nothing of the old again", async () => {
  const { conversation, conversationId, events, manager, home } = await openConversation({
    provider: scripted([says("one")]),
  });
  await conversation.submit("first");
  await events.until("task_complete");
  await manager.shutdown();
  const lines = (await rolloutLines(conversation.rolloutPath)).length;
  for (let round = 0; round < 3; round++) {
    const next = await openManager({ home, providers: [scripted([])] });
    await next.manager.resumeConversation(conversationId);
    await next.manager.shutdown();
  }
  expect(await rolloutLines(conversation.rolloutPath)).toHaveLength(lines);
});

test("a turn that was running when its process died is closed, its call too, and the model is told", async () => {
  const { conversation, conversationId, events, manager, home } = await openConversation({
    provider: scripted([calls("shell", "call_1"), beginsAndHangs("…")]),
  });
  await conversation.submit("do it");
  await events.until("agent_message_delta");
  // What a killed process leaves: everything up to the call, without its output.
  await conversation.flush();
  const text = await readFile(conversation.rolloutPath ?? "", "utf8");
  await manager.shutdown();
  const call = text.split("\n").findIndex((line) => line.includes('"function_call"'));
  await writeFile(
    conversation.rolloutPath ?? "",
    `${text
      .split("\n")
      .slice(0, call + 1)
      .join("\n")}\n`,
  );

  const provider = scripted([says("Understood")]);
  const next = await openManager({ home, providers: [provider] });
  const resumed = await next.manager.resumeConversation(conversationId);
  const log = new EventLog(resumed);
  await log.until("turn_aborted");
  await resumed.submit("go on");
  await log.until("task_complete");
  expect(provider.requests[0]?.input.slice(-3)).toEqual([
    { type: "function_call_output", call_id: "call_1", output: "interrupted, result unknown" },
    expect.objectContaining({
      role: "user",
      content: [{ type: "input_text", text: expect.stringContaining("<turn_aborted>") }],
    }),
    user("go on"),
  ]);
  await next.manager.shutdown();
  const third = await openManager({ home, providers: [scripted([])] });
  expect((await third.manager.resumeConversation(conversationId)).getHistory()).toEqual(resumed.getHistory());
});

test("a torn last line is cut off, kept beside the file and reported", async () => {
  const { conversation, conversationId, events, manager, home } = await openConversation({
    provider: scripted([says("one")]),
  });
  await conversation.submit("first");
  await events.until("task_complete");
  await manager.shutdown();
  await appendFile(conversation.rolloutPath ?? "", '{"timestamp":"2026-11-16T0');
  const next = await openManager({ home, providers: [scripted([says("two")])] });
  const resumed = await next.manager.resumeConversation(conversationId);
  expect(resumed.notice).toContain("torn");
  await resumed.submit("second");
  await new EventLog(resumed).until("task_complete");
  expect((await rolloutLines(conversation.rolloutPath)).at(-1)?.payload).toMatchObject({ type: "task_complete" });
  const kept = (await readdir(join(home, "conversations"))).filter((name) => name.includes(".torn"));
  expect(kept).toHaveLength(1);
  expect(await readFile(join(home, "conversations", kept[0] ?? ""), "utf8")).toBe('{"timestamp":"2026-11-16T0');
});

test("a call without an output is closed on resume, whoever wrote the file", async () => {
  const { manager, home } = await openManager({ providers: [scripted([says("Understood")])] });
  const timestamp = "2026-11-16T00:00:00.000Z";
  const meta = { id: "x", timestamp, cwd: home, originator: "codex", cli_version: "0.58.0" };
  const line = (type: string, payload: object) => `${JSON.stringify({ timestamp, type, payload })}\n`;
  const call = { type: "custom_tool_call", name: "apply_patch", input: "…", call_id: "call_1" };
  const text = line("session_meta", meta) + line("response_item", user("patch it")) + line("response_item", call);
  await mkdir(join(home, "conversations"));
  await writeFile(join(home, "conversations", "x.jsonl"), text);
  const resumed = await manager.resumeConversation("x", { provider: "scripted", model: "m" });
  await resumed.processMessage("go on");
  expect(resumed.getHistory().slice(1, 4)).toEqual([
    call,
    { type: "custom_tool_call_output", call_id: "call_1", output: "interrupted, result unknown" },
    user("go on"),
  ]);
});

test("a file that was made and never written to gets its first line when it is gone on with", async () => {
  const { manager, home } = await openManager();
  await mkdir(join(home, "conversations"));
  await writeFile(join(home, "conversations", "x.jsonl"), "");
  await expect(manager.resumeConversation("x")).rejects.toThrow("Conversation x has no turns");
  const resumed = await manager.resumeConversation("x", { allowEmpty: true });
  await resumed.processMessage("What is 2+2?");
  const [first] = await rolloutLines(resumed.rolloutPath);
  expect(first).toMatchObject({ type: "session_meta", metadata: { provider: "offline", model: "offline" } });
});

test("a conversation goes on in the folder it was in, and elsewhere with a notice when that is gone", async () => {
  const cwd = await temporaryFolder();
  const first = await openManager();
  const { conversation, conversationId } = await first.manager.newConversation({ cwd });
  await conversation.processMessage("my name is Alice");
  await first.manager.shutdown();
  const second = await openManager({ home: first.home });
  const there = await second.manager.resumeConversation(conversationId);
  expect(there.settings.cwd).toBe(cwd);
  await second.manager.shutdown();
  await rm(cwd, { recursive: true });
  const third = await openManager({ home: first.home, cwd: first.home });
  const elsewhere = await third.manager.resumeConversation(conversationId);
  expect(elsewhere.settings.cwd).toBe(first.home);
  expect(elsewhere.notice).toContain(`The folder this conversation was in is gone: ${cwd}`);
});

test("the policies a conversation was played with hold where they are the stricter ones, and it is told", async () => {
  const first = await openManager();
  const { conversation, conversationId } = await first.manager.newConversation({
    approvalPolicy: "untrusted",
    sandbox: "danger-full-access",
  });
  await conversation.processMessage("my name is Alice");
  await first.manager.shutdown();
  const resumedWith = async (config: Config, asked: ResumeConfig = {}) => {
    const { manager } = await openManager({ home: first.home, config });
    const { settings, notice } = await manager.resumeConversation(conversationId, asked);
    await manager.shutdown();
    const { approvalPolicy, sandbox } = settings;
    return { approvalPolicy, sandbox, isTold: notice?.includes("still hold") ?? false };
  };
  expect(await resumedWith({})).toEqual({ approvalPolicy: "untrusted", sandbox: "workspace-write", isTold: true });
  expect(await resumedWith({ approvalPolicy: "never", sandbox: "danger-full-access" })).toEqual({
    approvalPolicy: "untrusted",
    sandbox: "danger-full-access",
    isTold: true,
  });
  expect(await resumedWith({ approvalPolicy: "untrusted", sandbox: "read-only" })).toEqual({
    approvalPolicy: "untrusted",
    sandbox: "read-only",
    isTold: false,
  });
  expect(await resumedWith({}, { approvalPolicy: "on-request" })).toEqual({
    approvalPolicy: "on-request",
    sandbox: "workspace-write",
    isTold: false,
  });
});

test("turns of a recorder say nothing of policies, so the configured ones hold", async () => {
  const recorder = createMockRecorder();
  const config: Config = { sandbox: "danger-full-access" };
  const { manager } = await openManager({ recorder, config });
  const { conversation, conversationId } = await manager.newConversation();
  await conversation.processMessage("my name is Alice");
  await conversation.shutdown();
  const resumed = await manager.resumeConversation(conversationId);
  expect(resumed.settings).toMatchObject({ approvalPolicy: "on-request", sandbox: "danger-full-access" });
  expect(resumed.notice).not.toContain("still holds");
});

test("policies nobody knows are no policies", async () => {
  const first = await openManager();
  const { conversation, conversationId } = await first.manager.newConversation({ approvalPolicy: "untrusted" });
  await conversation.processMessage("my name is Alice");
  await first.manager.shutdown();
  const path = conversation.rolloutPath ?? "";
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replaceAll('"untrusted"', '{"anything":true}').replaceAll("workspace-write", "none"));
  const second = await openManager({ home: first.home });
  const { settings } = await second.manager.resumeConversation(conversationId);
  expect(settings).toMatchObject({ approvalPolicy: "on-request", sandbox: "workspace-write" });
});

test("everything a person should know is told, not only the first of it", async () => {
  const { manager, home } = await openManager();
  const { conversation, conversationId } = await manager.newConversation();
  await conversation.processMessage("my name is Alice");
  await manager.shutdown();
  await appendFile(conversation.rolloutPath ?? "", '{"timest');
  const next = await openManager({ home });
  const { notice } = await next.manager.resumeConversation(conversationId);
  expect(notice).toContain("OPENAI_API_KEY");
  expect(notice).toContain("torn by a crash");
});

test("damage before the last line is an error with its line, and the file stays as it is", async () => {
  const { conversation, conversationId, events, manager, home } = await openConversation({
    provider: scripted([says("one")]),
  });
  await conversation.submit("first");
  await events.until("task_complete");
  await manager.shutdown();
  const lines = (await readFile(conversation.rolloutPath ?? "", "utf8")).split("\n");
  lines[2] = '{"secret": sk-123';
  const damaged = lines.join("\n") + '{"torn';
  await writeFile(conversation.rolloutPath ?? "", damaged);
  const next = await openManager({ home });
  await expect(next.manager.resumeConversation(conversationId)).rejects.toMatchObject({
    code: "CORRUPTED_ROLLOUT",
    line: 3,
    message: expect.not.stringContaining("sk-123"),
  });
  expect(await readFile(conversation.rolloutPath ?? "", "utf8")).toBe(damaged);
});

test("a conversation nobody has spoken in has no turns to resume, but can be gone on with", async () => {
  const { conversationId, manager, home } = await openConversation({ provider: scripted([]) });
  await manager.shutdown();
  const next = await openManager({ home, providers: [scripted([says("Welcome")])] });
  await expect(next.manager.resumeConversation(conversationId)).rejects.toThrow(
    `Conversation ${conversationId} has no turns`,
  );
  const resumed = await next.manager.resumeConversation(conversationId, { allowEmpty: true });
  await resumed.submit("Hello");
  expect((await new EventLog(resumed).until("task_complete")).last_agent_message).toBe("Welcome");
});

test("ids that are paths, unknown or ambiguous are refused in words", async () => {
  const { manager } = await openManager();
  for (const id of ["../../etc/passwd", "..", "", "a/b", "nonexistent"]) {
    await expect(manager.resumeConversation(id)).rejects.toThrow(`Conversation ${id} not found. Run: cody list`);
  }
  await expect(manager.newConversation({ id: "../x" })).rejects.toThrow("a conversation id has");
});

test("a conversation is found by its bare UUID and by a unique beginning", async () => {
  const { conversation, conversationId, events, manager, home } = await openConversation({
    provider: scripted([says("one")]),
  });
  await conversation.submit("first");
  await events.until("task_complete");
  await manager.shutdown();
  for (const text of [conversationId.slice(5), conversationId.slice(0, 20), conversationId.slice(5, 20)]) {
    const next = await openManager({ home, providers: [scripted([])] });
    expect((await next.manager.resumeConversation(text)).id).toBe(conversationId);
    await next.manager.shutdown();
  }
});

test("two managers never have one conversation at once", async () => {
  const { conversation, conversationId, events, manager, home } = await openConversation({
    provider: scripted([says("one")]),
  });
  await conversation.submit("first");
  await events.until("task_complete");
  const second = await openManager({ home, providers: [scripted([])] });
  await expect(second.manager.resumeConversation(conversationId)).rejects.toMatchObject({
    code: "CONVERSATION_IN_USE",
    message: expect.stringContaining(`pid ${process.pid}`),
  });
  await manager.shutdown();
  expect((await second.manager.resumeConversation(conversationId)).getHistory()).toHaveLength(2);
});

test("resuming what this manager has open gives the same conversation", async () => {
  const { conversation, conversationId, manager } = await openConversation({ provider: scripted([]) });
  expect(await manager.resumeConversation(conversationId)).toBe(conversation);
  expect(manager.getConversation(conversationId)).toBe(conversation);
});

test("a fork begins as its parent was and goes its own way", async () => {
  const provider = scripted([says("one"), says("two"), says("fork")]);
  const { conversation, conversationId, events, manager } = await openConversation({ provider });
  for (const text of ["first", "second"]) {
    await conversation.submit(text);
    await events.until("task_complete");
  }
  const { conversation: fork } = await manager.forkConversation(conversationId, { afterTurn: 1 });
  expect(fork.getHistory()).toEqual([user("first"), assistant("one")]);
  await fork.submit("another way");
  await new EventLog(fork).until("task_complete");
  expect(conversation.getHistory()).toHaveLength(4);
  expect((await rolloutLines(fork.rolloutPath))[0]?.payload).toMatchObject({ forked_from_id: conversationId.slice(5) });
});

test("a fork after a turn that is not there is refused with the number of the last", async () => {
  const { conversation, conversationId, events, manager } = await openConversation({
    provider: scripted([says("one")]),
  });
  await expect(manager.forkConversation(conversationId, { afterTurn: 1 })).rejects.toThrow("has no turns");
  await conversation.submit("first");
  await events.until("task_complete");
  for (const afterTurn of [0, 2, 1.5]) {
    await expect(manager.forkConversation(conversationId, { afterTurn })).rejects.toThrow(
      `${conversationId} has no turn ${afterTurn}: its last one is 1`,
    );
  }
  const nowhere = manager.forkConversation(conversationId, { afterTurn: Number.NaN });
  await expect(nowhere).rejects.toThrow("conversation: afterTurn: must be a number");
  expect((await manager.forkConversation(conversationId, { afterTurn: 1 })).conversation.getHistory()).toHaveLength(2);
});

test("without persistence nothing is written, and what is saved can still be read", async () => {
  const { conversation, conversationId, events, manager, home } = await openConversation({
    provider: scripted([says("one")]),
  });
  await conversation.submit("first");
  await events.until("task_complete");
  await manager.shutdown();
  const before = await readFile(conversation.rolloutPath ?? "", "utf8");
  const config = { persistence: { enabled: false } };
  const next = await openManager({ home, config, providers: [scripted([says("two")])] });
  const resumed = await next.manager.resumeConversation(conversationId);
  expect(resumed.rolloutPath).toBeNull();
  await resumed.submit("second");
  expect(await new EventLog(resumed).until("task_complete")).not.toHaveProperty("saved");
  expect(await readFile(conversation.rolloutPath ?? "", "utf8")).toBe(before);
});

test("a home where nothing can be written never breaks a conversation, and it is saved once it can be", async () => {
  const home = await temporaryFolder();
  await writeFile(join(home, "conversations"), "a file where the directory should be");
  const { conversation, events } = await openConversation({ provider: scripted([says("one"), says("two")]), home });
  await conversation.submit("first");
  expect((await events.until("warning")).message).toMatch(/^Failed to save turn: /);
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "one", saved: false });
  await rm(join(home, "conversations"));
  await conversation.submit("second");
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "two", saved: true });
  const texts = (await rolloutLines(conversation.rolloutPath)).filter((line) => line.type === "response_item");
  expect(texts.map((line) => line.payload)).toEqual([
    user("first"),
    assistant("one"),
    user("second"),
    assistant("two"),
  ]);
});

test("lines without a time are resumed and imported like any other", async () => {
  const { conversation, conversationId, events, manager, home } = await openConversation({
    provider: scripted([says("Hello Alice")]),
  });
  await conversation.submit("I am Alice");
  await events.until("task_complete");
  await manager.shutdown();
  const path = conversation.rolloutPath ?? "";
  const lines = await rolloutLines(path);
  const [first] = lines;
  // Nor has the first line of old Codex a source.
  const timeless = lines.map(({ type, metadata, payload }) => ({
    type,
    ...(metadata === undefined ? {} : { metadata }),
    payload: Object.fromEntries(Object.entries(payload).filter(([key]) => key !== "source")),
  }));
  await writeFile(path, timeless.map((line) => `${JSON.stringify(line)}\n`).join(""));

  const next = await openManager({ home, providers: [scripted([])] });
  const resumed = await next.manager.resumeConversation(conversationId);
  expect(resumed.getHistory()).toEqual([user("I am Alice"), assistant("Hello Alice")]);
  expect(resumed.notice).toBeUndefined();
  await next.manager.shutdown();

  const other = await openManager({ providers: [scripted([])] });
  const imported = await other.manager.importConversation(path);
  if (imported.status !== "imported") throw new Error(imported.status);
  expect(imported.losses.counts).toEqual({});
  const items = (await rolloutLines(imported.rolloutPath)).filter(({ type }) => type === "response_item");
  expect(items.map(({ payload }) => payload)).toEqual([user("I am Alice"), assistant("Hello Alice")]);
  expect(new Set(items.map(({ timestamp }) => timestamp))).toEqual(new Set([first?.timestamp]));
});
