import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { says, scripted } from "../support/scripted-provider.js";

async function pinsOf(path: string | null): Promise<unknown[]> {
  const lines = await rolloutLines(path);
  return lines.flatMap(({ payload }) => (payload["type"] === "pinned" ? [payload["pinned"]] : []));
}

test("a conversation is pinned while it is open or closed, in its rollout and in the list", async () => {
  const provider = scripted([says("one"), says("two")]);
  const { manager, home, conversation, conversationId } = await openConversation({ provider });
  await conversation.processMessage("hello");
  expect(await manager.pinConversation(conversationId)).toEqual({ status: "saved" });
  expect(conversation.pinned).toBe(true);
  expect(await manager.listConversations()).toMatchObject([{ id: conversationId, pinned: true }]);
  await conversation.shutdown();
  expect(await manager.pinConversation(conversationId, { pinned: false })).toEqual({ status: "saved" });
  expect((await manager.listConversations())[0]).not.toHaveProperty("pinned");
  expect(await manager.pinConversation(conversationId)).toEqual({ status: "saved" });
  expect(await pinsOf(join(home, "conversations", `${conversationId}.jsonl`))).toEqual([true, false, true]);
});

test("resuming restores a pin whose index is gone, and a fork is not pinned", async () => {
  const provider = scripted([says("one")]);
  const { manager, home, conversation, conversationId } = await openConversation({ provider });
  await conversation.processMessage("hello");
  await conversation.setPinned(true);
  await manager.shutdown();
  await rm(join(home, "conversations", ".pins.jsonl"));
  const { manager: next } = await openManager({ home, providers: [provider] });
  expect((await next.listConversations())[0]).not.toHaveProperty("pinned");
  expect((await next.resumeConversation(conversationId)).pinned).toBe(true);
  expect(await next.listConversations()).toMatchObject([{ id: conversationId, pinned: true }]);
  const fork = await next.forkConversation(conversationId);
  expect([fork.conversation.pinned, await pinsOf(fork.conversation.rolloutPath)]).toEqual([false, []]);
});
