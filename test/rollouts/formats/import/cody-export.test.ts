import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ConversationManager } from "../../../../src/manager.js";
import { callsAt, compactingConfig, saysAt } from "../../../support/compacting.js";
import { openManager } from "../../../support/open-conversation.js";
import { fails, says, scripted, user } from "../../../support/scripted-provider.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

type Exported = Readonly<Record<string, unknown>> & {
  readonly history: unknown[];
  readonly turns: Readonly<Record<string, unknown>>[];
};

async function exported(manager: ConversationManager, id: string): Promise<Exported> {
  const pieces: string[] = [];
  for await (const piece of await manager.exportConversation(id, { format: "json" })) pieces.push(piece);
  return JSON.parse(pieces.join("")) as Exported;
}

/** All exported facts except the modification time and the source, which differ after an import. */
function comparable({ metadata, ...rest }: Exported): object {
  const [facts, meta] = [{ ...rest }, { ...(metadata as Record<string, unknown>) }];
  for (const key of ["source", "session_source", "timestamp"]) delete meta[key];
  delete facts["last_updated"];
  return { ...facts, metadata: meta };
}

/** A conversation with every kind of change to a history. */
async function changedConversation() {
  const replies = [
    callsAt(3000, "call_1", "/etc/hostname"),
    saysAt("It is a name.", 3100),
    saysAt("two", 9000),
    says("The summary"),
    fails("auth", false),
    saysAt("four", 2000),
    saysAt("five", 2500),
  ];
  const config = compactingConfig();
  const { manager } = await openManager({ providers: [scripted(replies)], config });
  const { conversation } = await manager.newConversation({ provider: "scripted", model: "m", name: "Names" });
  for (const text of ["What is my host called?", "and now?"]) await conversation.processMessage(text);
  await expect(conversation.processMessage("it fails")).rejects.toThrow("the model failed: auth");
  await conversation.processMessage("again");
  await conversation.replaceHistory([user("what matters"), { type: "ghost_snapshot", data: "state" }]);
  await conversation.processMessage("the last");
  return { manager, conversation, id: conversation.id, history: conversation.getHistory() };
}

async function fileOf(value: unknown, name: string): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, JSON.stringify(value, null, 2));
  return path;
}

test("a JSON export is imported as the same conversation: turns, compactions, counts, history and name", async () => {
  const { manager, id, history } = await changedConversation();
  const first = await exported(manager, id);
  expect(first.turns).toHaveLength(5);

  const other = await openManager({ providers: [scripted([says("six")])], config: compactingConfig() });
  const imported = await other.manager.importConversation(await fileOf(first, `${id}.json`));
  expect(imported).toMatchObject({ status: "imported", conversationId: id, name: "Names", turns: 5 });
  expect(imported).toMatchObject({ losses: { counts: {}, damagedCount: 0 } });
  expect(comparable(await exported(other.manager, id))).toEqual(comparable(first));

  const resumed = await other.manager.resumeConversation(id);
  expect(resumed.getHistory()).toEqual(history);
  expect({ name: resumed.name, turns: resumed.turns }).toEqual({ name: "Names", turns: 5 });
  await resumed.processMessage("and on");
});

test("a compaction of an imported conversation can be undone", async () => {
  const replies = [says("one"), says("The summary")];
  const { manager } = await openManager({ providers: [scripted(replies)], config: compactingConfig() });
  const { conversation } = await manager.newConversation({ provider: "scripted", model: "m" });
  await conversation.processMessage("first");
  const before = conversation.getHistory();
  await conversation.compact();
  const path = await fileOf(await exported(manager, conversation.id), "export.json");

  const other = await openManager({ providers: [scripted([])] });
  const { conversationId } = await other.manager.importConversation(path);
  const resumed = await other.manager.resumeConversation(conversationId);
  expect(resumed.getHistory()).toEqual(conversation.getHistory());
  await resumed.undoCompaction();
  expect(resumed.getHistory()).toEqual(before);
});

test("an export without the histories of its changes is imported with its last history", async () => {
  const { manager, id, history } = await changedConversation();
  const { turns, ...rest } = await exported(manager, id);
  const older = turns.map((turn) => ({
    ...turn,
    changes: (turn["changes"] as object[]).map((change) => ({ ...change, replacement_history: undefined })),
  }));
  const other = await openManager({ providers: [scripted([])] });
  const imported = await other.manager.importConversation(await fileOf({ ...rest, turns: older }, "older.json"));
  expect(imported).toMatchObject({ status: "imported", turns: 5 });
  expect((await other.manager.resumeConversation(id)).getHistory()).toEqual(history);
});

test("unknown content of an edited export is counted, and the rest is imported", async () => {
  const { manager, id } = await changedConversation();
  const first = await exported(manager, id);
  const [turn = {}, ...others] = first.turns;
  const items = [{ type: "message", role: "user", content: 7 }, ...(turn["items"] as unknown[])];
  const edited = { ...first, turns: [{ ...turn, items, token_usage: "many", changes: "none" }, 7, ...others] };
  const other = await openManager({ providers: [scripted([])] });
  const imported = await other.manager.importConversation(await fileOf(edited, "edited.json"));
  expect(imported).toMatchObject({
    status: "imported",
    turns: 5,
    losses: { counts: { unknown_lines: 1, unknown_parts: 1 } },
  });
});

test("exports in one folder are imported together", async () => {
  const { manager, id } = await changedConversation();
  const folder = await temporaryFolder();
  const exports = [await exported(manager, id)];
  const { conversation } = await manager.newConversation({ provider: "offline", model: "offline" });
  await conversation.processMessage("my name is Alice");
  exports.push(await exported(manager, conversation.id));
  for (const value of exports) {
    await writeFile(join(folder, `${String(value["conversation_id"])}.json`), JSON.stringify(value, null, 2));
  }
  const other = await openManager({ providers: [scripted([])] });
  const statuses: string[] = [];
  for await (const { status } of other.manager.importConversations(folder)) statuses.push(status);
  expect(statuses).toEqual(["imported", "imported"]);
  expect((await other.manager.listConversations()).map((listed) => listed.id).toSorted()).toEqual(
    [id, conversation.id].toSorted(),
  );
  expect(await readFile(join(folder, `${id}.json`), "utf8")).toContain('\n  "conversation_id"');
});
