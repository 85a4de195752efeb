import { appendFile, copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCompacting } from "../support/compacting.js";
import { putCodexRollouts } from "../support/codex-home.js";
import { appendCompaction, writeLargeRollout } from "../support/large-rollout.js";
import { EventLog, openManager } from "../support/open-conversation.js";
import { assistant, says, scripted, user } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

interface Shown {
  readonly type: string;
  readonly message?: string;
}

/** The messages `session_configured` shows of a saved conversation. */
async function shownOnResume(home: string, id: string): Promise<Shown[]> {
  const { manager } = await openManager({ home, providers: [scripted([])] });
  const resumed = await manager.resumeConversation(id, { provider: "scripted", model: "m" });
  const { initial_messages: shown } = await new EventLog(resumed).until("session_configured");
  await manager.shutdown();
  return (shown ?? []) as Shown[];
}

const asked = (message: string) => ({ type: "user_message", message });
const answered = (message: string) => ({ type: "agent_message", message });

test("after two compactions a resume shows every message and no summary", async () => {
  const replies = [says("one"), says("The summary"), says("two"), says("The second summary"), says("three")];
  const { manager, home, conversation, conversationId } = await openCompacting(replies);
  await conversation.processMessage("first");
  await conversation.compact();
  await conversation.processMessage("second");
  await conversation.compact();
  await conversation.processMessage("third");
  await manager.shutdown();
  expect(await shownOnResume(home, conversationId)).toEqual([
    asked("first"),
    answered("one"),
    asked("second"),
    answered("two"),
    asked("third"),
    answered("three"),
  ]);
});

test("a fork of a compacted conversation shows its parent's messages", async () => {
  const { manager, home, conversation, conversationId } = await openCompacting([says("one"), says("The summary")]);
  await conversation.processMessage("first");
  await conversation.compact();
  await manager.shutdown();
  const { manager: next } = await openManager({ home, providers: [scripted([])] });
  const { conversation: fork } = await next.forkConversation(conversationId, { provider: "scripted", model: "m" });
  const { initial_messages: shown } = await new EventLog(fork).until("session_configured");
  expect(shown).toEqual([asked("first"), answered("one")]);
});

test("after replaceHistory the replacement is shown", async () => {
  const { manager, home, conversation, conversationId } = await openCompacting([says("one")]);
  await conversation.processMessage("first");
  await conversation.replaceHistory([user("a"), assistant("b")]);
  await manager.shutdown();
  expect(await shownOnResume(home, conversationId)).toEqual([asked("a"), answered("b")]);
});

test.each([
  ["compact-twice", ["Q1", "First answer.", "Q2", "answer Q2", "Q3", "answer Q3"]],
  ["rollback", ["Q1", "An answer.", "Q2", "An answer.", "Q4", "An answer."]],
])("a Codex rollout is shown without summaries and rolled-back turns: %s", async (scenario, said) => {
  const home = await temporaryFolder();
  const [{ id, path } = { id: "", path: "" }] = await putCodexRollouts(join(home, "codex"), `v0.147.0/${scenario}`);
  await mkdir(join(home, "conversations"));
  await copyFile(path, join(home, "conversations", `conv_${id}.jsonl`));
  expect((await shownOnResume(home, `conv_${id}`)).map(({ message }) => message)).toEqual(said);
});

const line = (payload: object) =>
  `${JSON.stringify({ timestamp: "2026-11-18T00:00:00.000Z", type: "response_item", payload })}\n`;

test("a very long conversation shows its newest messages and says that there are older ones", async () => {
  const home = await temporaryFolder();
  const path = join(home, "conversations", "conv_long.jsonl");
  await mkdir(join(home, "conversations"));
  await writeLargeRollout(path, "conv_long", 5 * 1024 * 1024);
  await appendCompaction(path);
  await appendFile(
    path,
    line(user("x".repeat(1_500_000))) + line(assistant("y".repeat(1_500_000))) + line(user("last")),
  );
  const [notice, ...shown] = await shownOnResume(home, "conv_long");
  expect(notice).toMatchObject({ type: "warning", message: expect.stringContaining("not shown") });
  expect(shown.map(({ type, message = "" }) => [type, message.length])).toEqual([
    ["agent_message", 1_500_000],
    ["user_message", 4],
  ]);
});
