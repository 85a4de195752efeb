import { appendFile, copyFile, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import {
  ConversationNotFoundError,
  CorruptedRolloutError,
  getRolloutHistory,
  InvalidInputError,
} from "../../src/index.js";
import { putCodexRollouts } from "../support/codex-home.js";
import { openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { assistant, says, scripted, user } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const olderFormats = fileURLToPath(new URL("../fixtures/forms/", import.meta.url));

test("getRolloutHistory reads a rollout by path or symlink and leaves it unchanged", async () => {
  const { manager } = await openManager({ providers: [scripted([says("Hello Alice")])] });
  const { conversation, conversationId } = await manager.newConversation({ provider: "scripted", model: "scripted" });
  await conversation.processMessage("I am Alice");
  await manager.shutdown();
  const rolloutPath = conversation.rolloutPath ?? "";
  const items = await rolloutLines(rolloutPath);
  await appendFile(rolloutPath, '{"timestamp":');
  const before = await readFile(rolloutPath);
  const link = join(await temporaryFolder(), "link.jsonl");
  await symlink(rolloutPath, link);
  const read = { conversationId, items, history: [user("I am Alice"), assistant("Hello Alice")], rolloutPath };
  expect(await getRolloutHistory(rolloutPath)).toEqual(read);
  expect(await getRolloutHistory(link)).toEqual(read);
  expect(await readFile(rolloutPath)).toEqual(before);
});

test("the id of a rollout in an older format comes from its file name", async () => {
  const path = join(await temporaryFolder(), "told.jsonl");
  await copyFile(join(olderFormats, "turns.jsonl"), path);
  expect(await getRolloutHistory(path)).toEqual({
    conversationId: "told",
    items: expect.arrayContaining([expect.objectContaining({ type: "response_item", payload: user("Hello") })]),
    history: [user("Hello"), assistant("Hi there!"), user("How are you?")],
    rolloutPath: path,
  });
});

test.each(["v0.58.0/compact-midturn", "v0.147.0/compact-twice", "v0.166.0/compact-midturn"])(
  "items contain all lines of the file, including compacted ones and unknown types: %s",
  async (scenario) => {
    const [{ path } = { path: "" }] = await putCodexRollouts(await temporaryFolder(), scenario);
    const lines = await rolloutLines(path);
    const { items, history } = await getRolloutHistory(path);
    expect(items).toEqual(lines);
    expect(history.length).toBeLessThan(items.filter(({ type }) => type === "response_item").length);
  },
);

test("a missing, damaged or unnamed rollout, and anything but a file, is refused", async () => {
  const folder = await temporaryFolder();
  const at = (name: string): string => join(folder, name);
  await writeFile(at("damaged.jsonl"), "broken\n\n");
  await writeFile(at("name less.jsonl"), "");
  await mkdir(at("folder.jsonl"));
  await expect(getRolloutHistory(at("missing.jsonl"))).rejects.toBeInstanceOf(ConversationNotFoundError);
  await expect(getRolloutHistory(at("damaged.jsonl"))).rejects.toBeInstanceOf(CorruptedRolloutError);
  await expect(getRolloutHistory(at("name less.jsonl"))).rejects.toBeInstanceOf(InvalidInputError);
  await expect(getRolloutHistory(at("folder.jsonl"))).rejects.toBeInstanceOf(InvalidInputError);
});
