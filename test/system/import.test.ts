import { join } from "node:path";
import { expect, test } from "vitest";
import { bareId } from "../../src/base/text/conversation-id.js";
import type { ResponseItem } from "../../src/messages/response-item.js";
import type { MockLlm } from "../../src/mock-llm/server.js";
import { canonical, plain } from "../rollouts/formats/import/canonical-conversation.js";
import { importFixtures } from "../rollouts/formats/import/import-fixture.js";
import { Codex } from "../support/codex.js";
import { openManager } from "../support/open-conversation.js";
import { openMock } from "../support/open-mock-llm.js";

const names = [
  "claude-code.jsonl",
  "pi.jsonl",
  "envoy.jsonl",
  "diligent-1.jsonl",
  "turns.jsonl",
  "session-messages.json",
  "codex.jsonl",
];

/** A Codex, and the conversation that cody imported for it. */
async function importedForCodex(name: string) {
  // Not strict: newer Codex sends client_metadata, which is not documented.
  const model = await openMock({ strict: false, script: [{ text: "Alpha, I said." }] });
  const codex = await Codex.open(model);
  const { manager } = await openManager({
    home: join(codex.home, "..", "cody"),
    env: { CODEX_HOME: codex.home, PATH: process.env["PATH"] },
    config: { persistence: { layout: "codex" } },
  });
  const { conversationId } = await manager.importConversation(join(importFixtures, name));
  await manager.shutdown();
  return { codex, model, conversationId };
}

function inputOf({ requests }: MockLlm): readonly ResponseItem[] {
  const body = requests.at(0)?.body as { readonly input: readonly ResponseItem[] } | undefined;
  return body?.input ?? [];
}

test.each(names)("Codex lists and continues a conversation imported from %s", async (name) => {
  const { codex, model, conversationId } = await importedForCodex(name);
  expect(await codex.list()).toMatchObject([{ id: bareId(conversationId), preview: "What do a.txt and b.txt say?" }]);
  expect(await codex.exec("resume", bareId(conversationId), "Which one was it?")).toMatchObject({ code: 0 });
  const input = inputOf(model);
  const from = input.findIndex((item) => JSON.stringify(plain([item])) === JSON.stringify(canonical.slice(0, 1)));
  const said = plain(input.slice(from)).filter((item) => !JSON.stringify(item).includes("environment_context"));
  // Codex shows another model's reasoning and does not send it; it sends its own.
  const sent = name === "codex.jsonl" ? canonical : canonical.filter((item) => !("thought" in item));
  expect(said.slice(0, sent.length)).toEqual(sent);
  expect(said.at(-1)).toEqual({ user: "Which one was it?" });
  expect(JSON.stringify(input)).not.toContain('"encrypted_content":"');
});

test("after a compaction Codex continues with the same history as cody", async () => {
  const { codex, model, conversationId } = await importedForCodex("diligent-2.jsonl");
  expect(await codex.exec("resume", bareId(conversationId), "Which one was it?")).toMatchObject({ code: 0 });
  const input = inputOf(model);
  const texts = plain(input).map((item) => JSON.stringify(item));
  expect(texts.filter((text) => text.includes("[Session Summary]"))).toHaveLength(1);
  expect(texts.some((text) => text.includes("I will read both."))).toBe(false);
  expect(texts).toContain(JSON.stringify({ assistant: "They say alpha and beta." }));
});
