import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ManagerOptions } from "../../src/actors/conversation/open/manager-options.js";
import type { ConversationConfig } from "../../src/messages/settings/conversation-config.js";
import type { MockReply } from "../../src/mock-llm/script.js";
import { startMockLlm } from "../../src/mock-llm/server.js";
import { openManager } from "../support/open-conversation.js";

/** A server that accepts one key and answers with its own name. */
async function server(name: string, replies: readonly MockReply[] = [{ text: name }, { text: name }]) {
  const mock = await startMockLlm({ apiKey: keyOf(name), script: replies });
  onTestFinished(() => mock.close());
  return mock;
}

function keyOf(name: string): string {
  return `key-of-${name}-0123456789`;
}

async function answer(options: ManagerOptions, conversation: ConversationConfig = {}) {
  const { manager, home } = await openManager(options);
  const opened = await manager.newConversation(conversation);
  const items = await opened.conversation.processMessage("Hi");
  await manager.shutdown();
  return { said: JSON.stringify(items.at(-1)), home };
}

test("configured keys and addresses are used with their own provider, in both config shapes", async () => {
  const [openai, anthropic] = [await server("openai"), await server("anthropic")];
  const entries = {
    openai: { apiKey: keyOf("openai"), baseUrl: `${openai.url}/v1` },
    anthropic: { apiKey: keyOf("anthropic"), baseUrl: anthropic.url },
  };
  for (const config of [{ providers: entries }, { provider: entries }]) {
    expect(await answer({ config })).toMatchObject({ said: expect.stringContaining("openai") });
    expect(await answer({ config }, { model: "claude-x" })).toMatchObject({
      said: expect.stringContaining("anthropic"),
    });
  }
  expect([...openai.requests, ...anthropic.requests].map(({ path, status }) => [path, status])).toEqual([
    ["/v1/responses", 200],
    ["/v1/responses", 200],
    ["/v1/messages", 200],
    ["/v1/messages", 200],
  ]);
});

test("a configured key takes precedence over the environment's, and is written to no file", async () => {
  const openai = await server("openai");
  const env = { OPENAI_API_KEY: "key-of-nobody-0123456789", OPENAI_BASE_URL: `${openai.url}/v1` };
  const config = { providers: { openai: { apiKey: keyOf("openai") } } };
  const { said, home } = await answer({ config, env });
  expect(said).toContain("openai");
  const names = await readdir(join(home, "conversations"));
  const texts = await Promise.all(names.map((name) => readFile(join(home, "conversations", name), "utf8")));
  expect(texts.join("")).toContain("openai");
  expect(texts.join("")).not.toContain(keyOf("openai"));
});

test("a refusal that repeats the key is quoted without the key", async () => {
  const apiKey = keyOf("openai");
  const openai = await server("openai", [{ fault: { type: "status", status: 400, message: `bad key ${apiKey}` } }]);
  const config = { providers: { openai: { apiKey, baseUrl: `${openai.url}/v1` } } };
  const { manager } = await openManager({ config });
  const { conversation } = await manager.newConversation();
  await expect(conversation.processMessage("Hi")).rejects.toThrow("openai answered 400: bad key [key]");
  await conversation.flush();
  const rollout = await readFile(conversation.rolloutPath ?? "", "utf8");
  expect(rollout).toContain("bad key [key]");
  expect(rollout).not.toContain(apiKey);
});

test("an invalid configuration is refused without showing the key", async () => {
  const config = { providers: { openai: { apiKey: "sk secret" } } };
  await expect(openManager({ config })).rejects.toMatchObject({
    name: "InvalidInputError",
    message: "config: providers.openai.apiKey: a key must be one word of visible ASCII characters",
  });
});
