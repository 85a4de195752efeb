import { appendFile, mkdir, readdir, readFile, rename, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { CodexLocks } from "../../src/actors/rollout-writer/rollout-locks.js";
import type { Layout } from "../../src/messages/settings/config.js";
import { bareId } from "../../src/base/text/conversation-id.js";
import { CodexLockError, ConversationInUseError } from "../../src/base/errors.js";
import { putCodexRollouts } from "../support/codex-home.js";
import { EventLog, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const now = new Date(2026, 10, 6, 3, 4, 5);

/** A cody home and a Codex home, and a manager in one of the layouts. */
async function homes() {
  const folder = await temporaryFolder();
  const [home, codex, cwd] = [join(folder, "cody"), join(folder, "codex"), join(folder, "my_app")];
  await mkdir(cwd);
  const open = (layout: Layout, answer: string) =>
    openManager({
      home,
      cwd,
      env: { CODEX_HOME: codex, PATH: process.env["PATH"] },
      config: { persistence: { layout } },
      providers: [scripted([says(answer)])],
      now: () => now,
    });
  return { home, codex, cwd, open };
}

async function said(layout: Layout) {
  const parts = await homes();
  const { manager } = await parts.open(layout, "Hello");
  const { conversation, conversationId } = await manager.newConversation({ provider: "scripted", model: "m" });
  const path = conversation.rolloutPath ?? "";
  await conversation.submit("hi");
  await new EventLog(conversation).until("task_complete");
  await manager.shutdown();
  return { ...parts, conversationId, path };
}

test("layout codex stores a conversation where Codex does, readable by its owner only", async () => {
  const { codex, conversationId, path, cwd } = await said("codex");
  const bare = bareId(conversationId);
  expect(relative(codex, path)).toBe(`sessions/2026/11/06/rollout-2026-11-06T03-04-05-${bare}.jsonl`);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  for (let folder = dirname(path); folder !== dirname(codex); folder = dirname(folder)) {
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  }
  const [first, ...rest] = await rolloutLines(path);
  expect(first).toMatchObject({
    timestamp: now.toISOString(),
    type: "session_meta",
    payload: { id: bare, timestamp: now.toISOString(), cwd, originator: "cody", cli_version: "0.1.0", source: "exec" },
  });
  expect(Object.keys(first?.payload ?? {})).not.toContain("model_provider");
  expect(rest.every(({ timestamp }) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(timestamp))).toBe(true);
});

test("layout project stores a conversation in the folder of its project", async () => {
  const { home, conversationId, path, cwd } = await said("project");
  const folder = cwd.slice(1).replaceAll("/", "_");
  expect(relative(home, path)).toBe(`conversations/${folder}/${bareId(conversationId)}.jsonl`);
});

test.each([
  ["codex", "cody"],
  ["codex", "project"],
  ["project", "cody"],
  ["cody", "codex"],
] as const)("a conversation stored in layout %s continues in the same file in layout %s", async (before, after) => {
  const { conversationId, path, open } = await said(before);
  const { ino } = await stat(path);
  const { manager } = await open(after, "Again");
  const resumed = await manager.resumeConversation(bareId(conversationId));
  expect(resumed).toMatchObject({ id: conversationId, rolloutPath: path });
  await resumed.submit("and now?");
  await new EventLog(resumed).until("task_complete");
  await manager.shutdown();
  const lines = await rolloutLines(path);
  expect(lines.filter(({ type }) => type === "session_meta")).toHaveLength(1);
  expect(lines.flatMap(({ payload }) => (payload["type"] === "user_message" ? [payload["message"]] : []))).toEqual([
    "hi",
    "and now?",
  ]);
  expect((await stat(path)).ino).toBe(ino);
});

test("a list shows every layout, and Codex's own conversations only in layout codex", async () => {
  const { codex, conversationId, open } = await said("project");
  const [{ id: foreignId } = { id: "" }] = await putCodexRollouts(codex, "v0.147.0/simple");
  const inCodex = await open("codex", "x");
  const { conversationId: codexId } = await inCodex.manager.newConversation({ provider: "scripted", model: "m" });
  const inCody = await open("cody", "x");
  const idsIn = async ({ manager }: typeof inCody) =>
    (await manager.listConversations()).map(({ id }) => id).toSorted();
  expect(await idsIn(inCody)).toEqual([conversationId, codexId].toSorted());
  expect(await idsIn(inCodex)).toEqual([conversationId, codexId, foreignId].toSorted());
});

test("fork and id checks cover all layouts, and ids in layout codex are UUIDs", async () => {
  const { conversationId, codex, open } = await said("codex");
  const { manager } = await open("project", "x");
  await expect(manager.newConversation({ id: conversationId })).rejects.toThrow("already exists");
  const { conversation } = await manager.forkConversation(conversationId, { provider: "scripted", model: "m" });
  expect(conversation.getHistory()).toHaveLength(2);
  const inCodex = await open("codex", "x");
  await expect(inCodex.manager.newConversation({ id: "mine" })).rejects.toThrow(
    "the id of a conversation must be a UUID",
  );
  expect(await readdir(codex)).toContain("sessions");
});

test("a conversation that Codex has open is refused with Codex's name and left unchanged", async () => {
  const { codex, conversationId, path, open } = await said("codex");
  await appendFile(path, '{"torn');
  const before = await readFile(path);
  const locks = new CodexLocks({ codexHome: codex, searchPath: process.env["PATH"] });
  const lock = await locks.take(conversationId);
  const { manager } = await open("cody", "x");
  await expect(manager.resumeConversation(conversationId)).rejects.toThrow(
    new ConversationInUseError(conversationId, "Codex"),
  );
  expect(await readFile(path)).toEqual(before);
  if (lock.status === "taken") await lock.release();
  const resumed = await manager.resumeConversation(conversationId);
  expect(resumed.notice).toMatch(/incomplete after a crash: its 6 bytes were moved to \.cody-[0-9a-f]{16}\.torn-1/);
  // Old versions of Codex take any file with the id in its name for the rollout.
  const named = (await readdir(dirname(path))).filter((name) => name.includes(bareId(conversationId)));
  expect(named).toEqual([basename(path)]);
  expect(await locks.take(conversationId)).toEqual({ status: "held" });
  await resumed.shutdown();
  expect(await locks.take(conversationId)).toMatchObject({ status: "taken" });
});

test("a conversation open in another cody process is refused with its pid, not with Codex's name", async () => {
  const { conversationId, open } = await said("codex");
  const one = await open("codex", "x");
  await one.manager.resumeConversation(conversationId);
  const two = await open("codex", "x");
  await expect(two.manager.resumeConversation(conversationId)).rejects.toThrow(`pid ${process.pid}`);
});

test("without flock(1) a new conversation shows a warning, and one that Codex may have open is refused", async () => {
  const { codex, home, conversationId } = await said("codex");
  const { manager } = await openManager({
    home,
    env: { CODEX_HOME: codex, PATH: home },
    config: { persistence: { layout: "codex" } },
    providers: [scripted([])],
  });
  const created = await manager.newConversation({ provider: "scripted", model: "m" });
  expect(created.conversation.notice).toBe(
    `Do not resume ${created.conversationId} in Codex while it is open here: flock(1) is not installed`,
  );
  const { manager: next } = await openManager({
    home,
    env: { CODEX_HOME: codex, PATH: home },
    providers: [scripted([])],
  });
  await expect(next.resumeConversation(conversationId)).rejects.toThrow(
    new CodexLockError(conversationId, "flock(1) is not installed"),
  );
  const forced = await next.resumeConversation(conversationId, { force: true });
  expect(forced.notice).toContain("flock(1) is not installed");
});

test("a rollout that only Codex may append to is resumed as a copy, unless nothing is written", async () => {
  const { home, codex, open } = await homes();
  const [paginated] = await putCodexRollouts(codex, "v0.166.0/tools");
  const { id = "", path = "" } = paginated ?? {};
  const before = await readFile(path);
  const { manager } = await open("codex", "Done");
  const copy = await manager.resumeConversation(id, { provider: "scripted", model: "m" });
  expect(copy.id).not.toBe(id);
  expect(copy.notice).toContain(`Only Codex can write to ${id}, so this conversation is a copy of it`);
  expect(copy.getHistory()).toHaveLength(10);
  await copy.submit("go on");
  await new EventLog(copy).until("task_complete");
  await manager.shutdown();
  expect(await readFile(path)).toEqual(before);
  const reading = await openManager({
    home,
    env: { CODEX_HOME: codex },
    config: { persistence: { enabled: false } },
    providers: [scripted([])],
  });
  const read = await reading.manager.resumeConversation(id, { provider: "scripted", model: "m" });
  expect({ id: read.id, path: read.rolloutPath }).toEqual({ id, path: null });
  const again = await reading.manager.resumeConversation(copy.id, { provider: "scripted", model: "m" });
  expect(again.getHistory().slice(0, 10)).toEqual(read.getHistory());
});

test("a rollout outside every layout is resumed and forked by its path", async () => {
  const { path, conversationId, cwd, codex, open } = await said("codex");
  const moved = join(cwd, "moved.jsonl");
  await rename(path, moved);
  const { manager } = await open("cody", "Again");
  await expect(manager.resumeConversation(conversationId)).rejects.toThrow("not found");
  const fork = await manager.forkRollout(moved, { provider: "scripted", model: "m" });
  expect(fork.conversation.getHistory()).toHaveLength(2);
  const resumed = await manager.resumeRollout(moved);
  expect(resumed).toMatchObject({ id: conversationId, rolloutPath: moved });
  expect(await manager.resumeConversation(conversationId)).toBe(resumed);
  await expect(manager.resumeRollout(join(codex, "none.jsonl"))).rejects.toThrow("not found");
  await expect(manager.resumeRollout(codex)).rejects.toThrow("not a regular file");
});

test("after a turn in Codex a conversation continues with the provider and model it had in cody", async () => {
  const { conversationId, path, open } = await said("codex");
  const payload = { cwd: "/", approval_policy: "never", sandbox_policy: { type: "read-only" }, model: "gpt-x" };
  const line = { timestamp: now.toISOString(), type: "turn_context", payload: { ...payload, summary: "auto" } };
  await appendFile(path, `${JSON.stringify(line)}\n`);
  const { manager } = await open("codex", "Again");
  expect((await manager.resumeConversation(conversationId)).settings).toMatchObject({
    provider: "scripted",
    model: "m",
  });
});
