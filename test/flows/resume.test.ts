import { appendFile, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { ResumeConfig } from "../../src/messages/settings/conversation-config.js";
import type { WrittenConfig } from "../../src/config/files/written-config.js";
import { visible } from "../../src/base/text/visible.js";
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

test("resuming three times writes no old line again", async () => {
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

test("a turn that was running when its process died is closed with its open call, and the model is told", async () => {
  const { conversation, conversationId, events, manager, home } = await openConversation({
    provider: scripted([calls("shell", "call_1"), beginsAndHangs("…")]),
  });
  await conversation.submit("do it");
  await events.until("agent_message_delta");
  // The file of a killed process: everything up to the call, without its output.
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

test("a torn last line is cut off, stored beside the file and reported", async () => {
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

test("a call without an output is closed on resume, whichever program wrote the file", async () => {
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

test("an empty file gets its first line when its conversation is resumed", async () => {
  const { manager, home } = await openManager();
  await mkdir(join(home, "conversations"));
  await writeFile(join(home, "conversations", "x.jsonl"), "");
  await expect(manager.resumeConversation("x")).rejects.toThrow("Conversation x has no turns");
  const resumed = await manager.resumeConversation("x", { allowEmpty: true });
  await resumed.processMessage("What is 2+2?");
  const [first] = await rolloutLines(resumed.rolloutPath);
  expect(first).toMatchObject({ type: "session_meta", metadata: { provider: "offline", model: "offline" } });
});

/** A saved conversation of one turn in a folder of its own, and a manager in another folder. */
async function savedElsewhere() {
  const [recorded, callers] = [await temporaryFolder(), await temporaryFolder()];
  const { manager, home } = await openManager({ cwd: recorded });
  const { conversation, conversationId } = await manager.newConversation();
  await conversation.processMessage("my name is Alice");
  await manager.shutdown();
  const open = async (replies: Parameters<typeof scripted>[0] = []) =>
    (await openManager({ home, cwd: callers, providers: [scripted(replies)] })).manager;
  return { recorded, callers, conversationId, path: conversation.rolloutPath ?? "", open };
}

test("tools of a resumed conversation write in the caller's folder, not in the recorded one", async () => {
  const { recorded, callers, conversationId, open } = await savedElsewhere();
  const manager = await open([
    calls("write_file", "call_1", { path: "inside.txt", content: "one" }),
    calls("write_file", "call_2", { path: join(recorded, "outside.txt"), content: "two" }),
    says("done"),
  ]);
  const resumed = await manager.resumeConversation(conversationId, { provider: "scripted", model: "m" });
  const events = new EventLog(resumed);
  expect(await events.until("session_configured")).toMatchObject({ cwd: callers, recorded_cwd: recorded });
  expect(resumed.notice).toContain(`was in ${recorded}. It continues in ${callers}, where its tools may write`);
  await resumed.submit("write");
  for (;;) {
    const msg = await events.untilAny(["exec_approval_request", "apply_patch_approval_request", "task_complete"]);
    if (msg.type === "task_complete") break;
    const isOutside = msg.reason?.includes("is outside the working folder") === true;
    await resumed.submit({ type: "exec_approval", id: msg.approval_id, decision: isOutside ? "denied" : "approved" });
  }
  expect({ callers: await readdir(callers), recorded: await readdir(recorded) }).toEqual({
    callers: ["inside.txt"],
    recorded: [],
  });
});

test('cwd: "recorded" continues in the recorded folder, a path in that folder, and a notice says which', async () => {
  const { recorded, callers, conversationId, path, open } = await savedElsewhere();
  const manager = await open();
  const notice = `This conversation continues in its recorded folder ${recorded}, not in ${callers}`;
  const other = await temporaryFolder();
  const ways = [
    () => manager.resumeConversation(conversationId, { cwd: "recorded" }),
    () => manager.resumeRollout(path, { cwd: "recorded" }),
    async () => (await manager.forkConversation(conversationId, { cwd: "recorded" })).conversation,
    async () => (await manager.forkRollout(path, { cwd: "recorded" })).conversation,
  ];
  for (const way of ways) {
    const conversation = await way();
    expect(conversation.settings.cwd).toBe(recorded);
    expect(conversation.notice).toContain(notice);
    await conversation.shutdown();
  }
  const asked = await manager.resumeConversation(conversationId, { cwd: other });
  expect(asked.settings.cwd).toBe(other);
  expect(asked.notice ?? "").not.toContain(recorded);
  await expect(manager.newConversation({ cwd: "recorded" })).rejects.toThrow('cwd: "recorded" is only for resuming');
});

test("a fork works in the caller's folder, and its file records that", async () => {
  const { recorded, callers, conversationId, open } = await savedElsewhere();
  const manager = await open();
  const { conversation } = await manager.forkConversation(conversationId);
  expect(conversation.settings.cwd).toBe(callers);
  expect(conversation.notice).toContain(`was in ${recorded}. It continues in ${callers}`);
  expect(await new EventLog(conversation).until("session_configured")).toMatchObject({
    cwd: callers,
    recorded_cwd: recorded,
  });
  expect((await rolloutLines(conversation.rolloutPath))[0]).toMatchObject({ payload: { cwd: callers } });
});

test("there is no notice about folders when the recorded one is the caller's, also by a symbolic link", async () => {
  const { recorded, conversationId, path, open } = await savedElsewhere();
  await (await open()).shutdown();
  const link = join(await temporaryFolder(), "link");
  await symlink(recorded, link);
  for (const cwd of [recorded, link]) {
    const { manager } = await openManager({ home: dirname(dirname(path)), cwd });
    const { settings, notice } = await manager.resumeConversation(conversationId);
    expect(settings.cwd).toBe(cwd);
    expect(notice ?? "").not.toContain("folder");
    expect(notice ?? "").not.toContain("This conversation");
    await manager.shutdown();
  }
});

test("a recorded folder that is missing or not absolute is named in the notice and cannot be chosen", async () => {
  const { recorded, callers, conversationId, path, open } = await savedElsewhere();
  await rm(recorded, { recursive: true });
  const text = await readFile(path, "utf8");
  for (const folder of [recorded, "..", "/etc/hosts", "/nowhere\u001b[2J"]) {
    await writeFile(path, text.replaceAll(JSON.stringify(recorded), JSON.stringify(folder)));
    const manager = await open();
    await expect(manager.resumeConversation(conversationId, { cwd: "recorded" })).rejects.toThrow(
      `does not exist or cannot be read: ${visible(folder)}. To continue in your own folder, leave out --recorded-cwd`,
    );
    const { settings, notice } = await manager.resumeConversation(conversationId);
    expect(settings.cwd).toBe(callers);
    expect(notice).toContain(`does not exist or cannot be read: ${visible(folder)}. It continues in ${callers}.`);
    await manager.shutdown();
  }
});

test("recorded policies apply where they are stricter than the configured ones, with a notice", async () => {
  const first = await openManager();
  const { conversation, conversationId } = await first.manager.newConversation({
    approvalPolicy: "untrusted",
    sandbox: "danger-full-access",
  });
  await conversation.processMessage("my name is Alice");
  await first.manager.shutdown();
  const resumedWith = async (config: WrittenConfig, asked: ResumeConfig = {}) => {
    const { manager } = await openManager({ home: first.home, config });
    const { settings, notice } = await manager.resumeConversation(conversationId, asked);
    await manager.shutdown();
    const { approvalPolicy, sandbox } = settings;
    return { approvalPolicy, sandbox, isTold: notice?.includes("still apply") ?? false };
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

test("turns of a recorder have no policies, so the configured ones apply", async () => {
  const recorder = createMockRecorder();
  const config: WrittenConfig = { sandbox: "danger-full-access" };
  const { manager } = await openManager({ recorder, config });
  const { conversation, conversationId } = await manager.newConversation();
  await conversation.processMessage("my name is Alice");
  await conversation.shutdown();
  const resumed = await manager.resumeConversation(conversationId);
  expect(resumed.settings).toMatchObject({ approvalPolicy: "on-request", sandbox: "danger-full-access" });
  expect(resumed.notice).not.toContain("still apply");
});

test("unknown recorded policies are ignored", async () => {
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

test("all notices about a resumed conversation are shown, not only the first", async () => {
  const { manager, home } = await openManager();
  const { conversation, conversationId } = await manager.newConversation();
  await conversation.processMessage("my name is Alice");
  await manager.shutdown();
  await appendFile(conversation.rolloutPath ?? "", '{"timest');
  const next = await openManager({ home });
  const { notice } = await next.manager.resumeConversation(conversationId);
  expect(notice).toContain("OPENAI_API_KEY");
  expect(notice).toContain("incomplete after a crash");
});

test("damage before the last line is an error with the line number, and the file stays unchanged", async () => {
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

test("a conversation without messages has no turns to resume, but can be continued", async () => {
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

test("ids that are paths, unknown or ambiguous are refused with a clear message", async () => {
  const { manager } = await openManager();
  for (const id of ["../../etc/passwd", "..", "", "a/b", "nonexistent"]) {
    await expect(manager.resumeConversation(id)).rejects.toThrow(`Conversation ${id} not found. Run: cody list`);
  }
  await expect(manager.newConversation({ id: "../x" })).rejects.toThrow("a conversation id has");
});

test("a conversation is found by its bare UUID and by a unique prefix", async () => {
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

test("two managers never have the same conversation open", async () => {
  const { conversation, conversationId, events, manager, home } = await openConversation({
    provider: scripted([says("one")]),
    // Asleep, it would not hold the lock.
    idleAfter: Infinity,
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

test("resuming a conversation that this manager has open returns the same conversation", async () => {
  const { conversation, conversationId, manager } = await openConversation({ provider: scripted([]) });
  expect(await manager.resumeConversation(conversationId)).toBe(conversation);
  expect(manager.getConversation(conversationId)).toBe(conversation);
});

test("a fork starts with its parent's history and then diverges", async () => {
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

test("a fork after a missing turn is refused with the number of the last turn", async () => {
  const { conversation, conversationId, events, manager } = await openConversation({
    provider: scripted([says("one")]),
  });
  await expect(manager.forkConversation(conversationId, { afterTurn: 1 })).rejects.toThrow("has no turns");
  await conversation.submit("first");
  await events.until("task_complete");
  for (const afterTurn of [0, 2, 1.5]) {
    await expect(manager.forkConversation(conversationId, { afterTurn })).rejects.toThrow(
      `${conversationId} has no turn ${afterTurn}: its last turn is 1`,
    );
  }
  const nowhere = manager.forkConversation(conversationId, { afterTurn: Number.NaN });
  await expect(nowhere).rejects.toThrow("conversation: afterTurn: must be a number");
  expect((await manager.forkConversation(conversationId, { afterTurn: 1 })).conversation.getHistory()).toHaveLength(2);
});

test("without persistence nothing is written, and saved conversations can still be read", async () => {
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

test("an unwritable home never breaks a conversation, which is saved as soon as writing works", async () => {
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

test("lines without a timestamp are resumed and imported like any other", async () => {
  const { conversation, conversationId, events, manager, home } = await openConversation({
    provider: scripted([says("Hello Alice")]),
  });
  await conversation.submit("I am Alice");
  await events.until("task_complete");
  await manager.shutdown();
  const path = conversation.rolloutPath ?? "";
  const lines = await rolloutLines(path);
  const [first] = lines;
  // The first line of old Codex versions has no source either.
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
