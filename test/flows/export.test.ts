import { expect, test } from "vitest";
import { ConversationNotFoundError, EmptyRolloutError, InvalidInputError } from "../../src/base/errors.js";
import type { ExportedConversation } from "../../src/rollouts/formats/export/export-lines.js";
import { createMockRecorder } from "../support/mock-recorder.js";
import { openManager } from "../support/open-conversation.js";
import { says, scripted } from "../support/scripted-provider.js";

async function textOf(exported: ExportedConversation): Promise<string> {
  let text = "";
  for await (const piece of exported) text += piece;
  return text;
}

async function opened(options: Parameters<typeof openManager>[0] = {}) {
  const provider = scripted([says("Hello Alice."), says("Yes.")]);
  const { manager } = await openManager({ providers: [provider], config: { provider: "scripted" }, ...options });
  const { conversation, conversationId } = await manager.newConversation({ model: "m", name: "Greeting" });
  return { manager, conversation, conversationId };
}

test("an open conversation is exported up to now, by id, name or file", async () => {
  const { manager, conversation, conversationId } = await opened();
  await conversation.processMessage("I am Alice");
  for (const text of [conversationId, "Greeting", conversation.rolloutPath ?? ""]) {
    const exported = await manager.exportConversation(text, { format: "json" });
    expect(exported).toMatchObject({ conversationId, title: "Greeting", format: "json" });
    expect(exported.fileName()).toMatch(/^cody-.*-greeting-[0-9a-f]{8}\.json$/);
    expect(JSON.parse(await textOf(exported))).toMatchObject({
      conversation_id: conversationId,
      counts: { turns: 1, messages: 2 },
      history: conversation.getHistory(),
    });
  }
});

test("messages sent while the export is being written are not in it", async () => {
  const { manager, conversation, conversationId } = await opened();
  await conversation.processMessage("I am Alice");
  const exported = await manager.exportConversation(conversationId, { format: "markdown" });
  await conversation.processMessage("Are you sure?");
  const text = await textOf(exported);
  expect(text).toContain("I am Alice");
  expect(text).not.toContain("Are you sure?");
});

test("conversations of a custom recorder are exported as well", async () => {
  const { manager, conversation, conversationId } = await opened({ recorder: createMockRecorder() });
  await conversation.processMessage("I am Alice");
  expect(await textOf(await manager.exportConversation(conversationId, { format: "markdown" }))).toContain(
    "> I am Alice",
  );
});

test("exporting a missing or empty conversation, in an unknown format, or after shutdown is refused", async () => {
  const { manager, conversationId } = await opened();
  const options = { format: "codex" } as const;
  await expect(manager.exportConversation("nobody", options)).rejects.toThrow(ConversationNotFoundError);
  const odd = manager.exportConversation(conversationId, { format: "pdf" as never });
  await expect(odd).rejects.toThrow("format: expected one of markdown, html, json, codex, envoy, diligent");
  await expect(manager.exportConversation("no.jsonl", options)).rejects.toThrow(ConversationNotFoundError);
  await expect(manager.exportConversation(conversationId, options)).rejects.toThrow(EmptyRolloutError);
  await manager.shutdown();
  await expect(manager.exportConversation(conversationId, options)).rejects.toThrow(InvalidInputError);
});
