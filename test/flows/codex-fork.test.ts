import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fileLines, foldLines } from "../../src/actors/conversation/store/load-rollout.js";
import { openManager } from "../support/open-conversation.js";
import { says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const fixtures = fileURLToPath(new URL("../fixtures/codex/v0.166.0/fork/", import.meta.url));
const parent = "01a1e1d9-5bb7-7992-88a9-7e0b2d39fb94";
const child = "01a1e1d9-5e25-7960-84cc-b82adde09eb8";
const names = {
  [parent]: `rollout-2026-11-16T00-54-40-${parent}.jsonl`,
  [child]: `rollout-2026-11-16T00-54-41-${child}.jsonl`,
};

async function homeWith(ids: readonly (keyof typeof names)[]): Promise<string> {
  const home = await temporaryFolder();
  await mkdir(join(home, "conversations"));
  for (const id of ids) await copyFile(fixtures + names[id], join(home, "conversations", `conv_${id}.jsonl`));
  return home;
}

test("a fork made by Codex continues without a warning about Codex's own lines", async () => {
  const home = await homeWith([parent, child]);
  const { state } = await foldLines(fileLines(fixtures + names[child], child));
  const { manager } = await openManager({ home, cwd: home, providers: [scripted([says("Still here")])] });
  const resumed = await manager.resumeConversation(child, { provider: "scripted", model: "m", cwd: home });
  expect(resumed.getHistory()).toEqual(state.history);
  expect(resumed.notice ?? "").not.toContain("unknown type");
  await resumed.processMessage("and now?");
  expect(resumed.getHistory().slice(0, 12)).toEqual(state.history);
  expect(resumed.getHistory().at(-1)).toMatchObject({ content: [{ text: "Still here" }] });
});

test("a cody fork of a Codex fork needs no other file", async () => {
  const { manager, home } = await openManager({ home: await homeWith([parent, child]) });
  const { conversation, conversationId } = await manager.forkConversation(child, { provider: "offline", cwd: home });
  await manager.shutdown();
  const path = join(home, "conversations", `${conversationId}.jsonl`);
  const { state } = await foldLines(fileLines(path, conversationId));
  expect(state.history).toHaveLength(12);
  expect(state.history).toEqual(conversation.getHistory());
});

test("a Codex fork whose parent is missing is refused with the name of the missing file", async () => {
  const { manager } = await openManager({ home: await homeWith([child]) });
  await expect(manager.resumeConversation(child)).rejects.toMatchObject({
    code: "CORRUPTED_ROLLOUT",
    line: 1,
    detail: expect.stringContaining(`${parent}.jsonl`) as unknown,
  });
});
