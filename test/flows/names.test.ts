import { appendFile, chmod, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bareId } from "../../src/base/text/conversation-id.js";
import { putCodexRollouts } from "../support/codex-home.js";
import { openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const now = () => new Date("2026-11-16T00:00:00Z");

function replies() {
  return scripted([says("one"), says("two"), says("three")]);
}

async function namesOf(path: string | null): Promise<unknown[]> {
  const lines = await rolloutLines(path);
  return lines.flatMap(({ payload }) => (payload["type"] === "named" ? [payload["name"]] : []));
}

test("a conversation is named at creation or later, and the name is in its rollout and in the list", async () => {
  const { manager } = await openManager({ providers: [replies()] });
  const { conversation } = await manager.newConversation({ provider: "scripted", name: "  first " });
  expect(conversation.name).toBe("first");
  expect(await conversation.rename("second")).toEqual({ status: "saved" });
  expect(conversation.name).toBe("second");
  expect(await namesOf(conversation.rolloutPath)).toEqual(["first", "second"]);
  expect(await manager.listConversations()).toMatchObject([{ id: conversation.id, name: "second" }]);
});

test("a conversation is found by its name, after ids and id prefixes", async () => {
  const provider = replies();
  const { manager, home, conversation } = await openConversation({ provider });
  await conversation.processMessage("hello");
  await conversation.rename("My work: c");
  const other = await manager.newConversation({ provider: "scripted", name: conversation.id });
  await manager.shutdown();
  const { manager: next } = await openManager({ home, providers: [provider] });
  const resumed = await next.resumeConversation("My work: c");
  expect([resumed.id, resumed.name]).toEqual([conversation.id, "My work: c"]);
  expect((await next.resumeConversation(conversation.id)).id).toBe(conversation.id);
  const fork = await next.forkConversation("My work: c");
  expect([fork.conversation.name, await namesOf(fork.conversation.rolloutPath)]).toEqual([undefined, []]);
  expect(other.conversation.name).toBe(conversation.id);
  await expect(next.resumeConversation("My work")).rejects.toMatchObject({ code: "CONVERSATION_NOT_FOUND" });
});

test("an ambiguous name is refused with the matching ids, and deleted conversations do not count", async () => {
  const { manager } = await openManager({ providers: [replies()] });
  const made = [];
  for (const _ of [1, 2, 3]) made.push((await manager.newConversation({ name: "twin" })).conversation);
  const [first, second, third] = made;
  await Promise.all(made.map((conversation) => conversation.shutdown()));
  await rm(first?.rolloutPath ?? "");
  const both = `twin matches 2 conversations: ${second?.id}, ${third?.id}`;
  await expect(manager.resumeConversation("twin")).rejects.toThrow(both);
  await rm(second?.rolloutPath ?? "");
  expect((await manager.resumeConversation("twin", { allowEmpty: true })).id).toBe(third?.id);
});

test("a saved conversation is renamed without being resumed, and an open one renames itself", async () => {
  const { manager, conversation } = await openConversation({ provider: replies() });
  expect(await manager.renameConversation(conversation.id, "open")).toEqual({ status: "saved" });
  expect(conversation.name).toBe("open");
  await conversation.shutdown();
  const before = await rolloutLines(conversation.rolloutPath);
  expect(await manager.renameConversation("open", "saved")).toEqual({ status: "saved" });
  const after = await rolloutLines(conversation.rolloutPath);
  expect(after.slice(before.length)).toMatchObject([{ type: "cody", payload: { type: "named", name: "saved" } }]);
  expect(await manager.listConversations()).toMatchObject([{ name: "saved" }]);
  await expect(manager.renameConversation("nobody", "x")).rejects.toMatchObject({ code: "CONVERSATION_NOT_FOUND" });
  await expect(manager.renameConversation("saved", "\n")).rejects.toThrow(
    "a name must have 1 to 100 printable characters",
  );
});

test("a conversation that another manager has open is not renamed", async () => {
  const { home, conversation } = await openConversation({ provider: replies() });
  const { manager } = await openManager({ home });
  await expect(manager.renameConversation(conversation.id, "mine")).rejects.toMatchObject({
    code: "CONVERSATION_IN_USE",
  });
});

test("without an index names are still in the rollouts, and resuming restores them to the index", async () => {
  const provider = replies();
  const { manager, home, conversation } = await openConversation({ provider });
  await conversation.processMessage("hello");
  await conversation.rename("kept");
  await manager.shutdown();
  await rm(join(home, "conversations", ".names.jsonl"));
  const { manager: next } = await openManager({ home, providers: [provider] });
  expect((await next.listConversations()).map(({ name }) => name)).toEqual([undefined]);
  expect((await next.resumeConversation(conversation.id)).name).toBe("kept");
  expect((await next.listConversations()).map(({ name }) => name)).toEqual(["kept"]);
});

test("an index that cannot be written is reported, and the name is still in the rollout", async () => {
  const { manager, home } = await openManager({ providers: [replies()] });
  await mkdir(join(home, "conversations", ".names.jsonl"), { recursive: true });
  await chmod(join(home, "conversations"), 0o700);
  const { conversation } = await manager.newConversation({ provider: "scripted", name: "first" });
  expect(conversation.notice).toContain("lists will not show it");
  expect(await conversation.rename("second")).toMatchObject({ status: "not_saved" });
  expect(await namesOf(conversation.rolloutPath)).toEqual(["first", "second"]);
});

test("an unsaved conversation keeps its name while it is open", async () => {
  const { manager } = await openManager({ config: { persistence: { enabled: false } } });
  const { conversation } = await manager.newConversation({ name: "gone soon" });
  expect(await conversation.rename("still here")).toEqual({ status: "off" });
  expect(await manager.listConversations()).toMatchObject([{ name: "still here" }]);
});

test("in layout codex the name is stored where Codex looks for it", async () => {
  const codex = join(await temporaryFolder(), "codex");
  const env = { CODEX_HOME: codex, PATH: process.env["PATH"] };
  const { manager } = await openManager({ env, config: { persistence: { layout: "codex" } }, now });
  const { conversation } = await manager.newConversation({ name: "shared" });
  const index = join(codex, "session_index.jsonl");
  const id = bareId(conversation.id);
  expect(await readFile(index, "utf8")).toBe(
    `${JSON.stringify({ id, thread_name: "shared", updated_at: "2026-11-16T00:00:00.000Z" })}\n`,
  );
  await appendFile(index, `${JSON.stringify({ id, thread_name: "by Codex", updated_at: "2026-11-17T00:00:00Z" })}\n`);
  expect(await manager.listConversations()).toMatchObject([{ name: "by Codex" }]);
});

test("renaming a rollout that only Codex may append to appends nothing", async () => {
  const codex = join(await temporaryFolder(), "codex");
  const rollouts = await putCodexRollouts(codex, "v0.166.0/simple");
  const [{ id, path } = { id: "", path: "" }] = rollouts;
  const before = await readFile(path, "utf8");
  expect(before).toContain('"history_mode":"paginated"');
  const env = { CODEX_HOME: codex, PATH: process.env["PATH"] };
  const { manager } = await openManager({ env, config: { persistence: { layout: "codex" } } });
  expect(await manager.renameConversation(id, "theirs")).toEqual({ status: "saved" });
  expect(await readFile(path, "utf8")).toBe(before);
  expect(await manager.listConversations()).toMatchObject([{ id, name: "theirs" }]);
});
