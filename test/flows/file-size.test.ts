import { stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { openConversation, openManager } from "../support/open-conversation.js";
import { says, scripted } from "../support/scripted-provider.js";

const config = { persistence: { maxFileMegabytes: 0.01 } };
const reason =
  "its file is larger than 0.01 MB (persistence.maxFileMegabytes); raise the limit, or start a new conversation";

test("no turn starts in a conversation whose file is over the size limit, also after a resume", async () => {
  const provider = scripted([says("x".repeat(10_000)), says("two")]);
  const { manager, home, conversation, conversationId } = await openConversation({ provider, config });
  await conversation.processMessage("first");
  await expect(conversation.processMessage("second")).rejects.toThrow(reason);
  const { size } = await stat(conversation.rolloutPath ?? "");
  await manager.shutdown();
  const strict = await openManager({ home, providers: [provider], config });
  const again = await strict.manager.resumeConversation(conversationId);
  await expect(again.processMessage("second")).rejects.toThrow(reason);
  await strict.manager.shutdown();
  expect((await stat(conversation.rolloutPath ?? "")).size).toBe(size);
  const raised = await openManager({ home, providers: [provider] });
  const resumed = await raised.manager.resumeConversation(conversationId);
  expect(await resumed.processMessage("second")).toHaveLength(2);
});
