import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { beginsAndHangs, says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const played = { provider: "scripted", model: "first" };

test("the first line records the folder, provider, model and commit of a conversation", async () => {
  const cwd = await temporaryFolder();
  const hash = "0123456789abcdef0123456789abcdef01234567";
  await mkdir(join(cwd, ".git"));
  await writeFile(join(cwd, ".git", "HEAD"), `${hash}\n`);
  const { manager } = await openManager({ providers: [scripted([])] });
  const { conversation } = await manager.newConversation({ ...played, cwd });
  const [first] = await rolloutLines(conversation.rolloutPath);
  expect(first).toMatchObject({
    type: "session_meta",
    metadata: { provider: "scripted", model: "first" },
    payload: { cwd, git: { commit_hash: hash } },
  });
});

test("a model switch during a turn applies from the next turn on, and survives a resume", async () => {
  const { conversation, events, manager, home, conversationId } = await openConversation({
    provider: scripted([beginsAndHangs("…")]),
  });
  await conversation.submit("hello");
  await events.until("agent_message_delta");
  await conversation.submit({ type: "override_turn_context", model: "second" });
  await conversation.interrupt();
  await events.until("turn_aborted");
  await manager.shutdown();
  const models = (await rolloutLines(conversation.rolloutPath)).flatMap((line) =>
    line.type === "turn_context" ? [line.payload["model"]] : [],
  );
  expect(models).toEqual(["scripted", "second"]);
  const next = await openManager({ home, providers: [scripted([])] });
  expect((await next.manager.resumeConversation(conversationId)).settings.model).toBe("second");
});

test("the last model switch counts, whether a turn used it or not", async () => {
  const { manager, home } = await openManager({ providers: [scripted([says("one"), says("two")])] });
  const { conversation, conversationId } = await manager.newConversation(played);
  await conversation.processMessage("hello");
  await conversation.submit({ type: "override_turn_context", model: "second" });
  await conversation.processMessage("again");
  await conversation.submit({ type: "override_turn_context", model: "third" });
  await manager.shutdown();
  const provider = scripted([says("three")]);
  const next = await openManager({ home, providers: [provider] });
  const resumed = await next.manager.resumeConversation(conversationId);
  expect(resumed.settings).toMatchObject({ provider: "scripted", model: "third" });
  await resumed.processMessage("and now?");
  expect(provider.requests.map(({ model }) => model)).toEqual(["third"]);
});
