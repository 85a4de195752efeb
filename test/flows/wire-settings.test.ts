import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { ManagerOptions } from "../../src/actors/conversation/open/manager-options.js";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import { openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { says, scripted } from "../support/scripted-provider.js";

const env = { OPENAI_API_KEY: "sk-test-1", ANTHROPIC_API_KEY: "sk-test-2" };

/** A conversation recorded with a provider of this name, and the options it is resumed with. */
async function played(provider: string, model: string): Promise<{ home: string; conversation: Conversation }> {
  const { manager, home } = await openManager({ providers: [{ ...scripted([says("Hello")]), name: provider }] });
  const { conversation } = await manager.newConversation({ provider, model });
  await conversation.processMessage("Hi");
  await manager.shutdown();
  return { home, conversation };
}

async function resumed(home: string, id: string, config: NonNullable<ManagerOptions["config"]>, changes = {}) {
  const { manager } = await openManager({ home, env, config });
  const { provider, api, model, baseUrl } = (await manager.resumeConversation(id, changes)).settings;
  await manager.shutdown();
  return { provider, api, model, baseUrl };
}

test("a resumed conversation has its recorded provider and model, and the configured API and address", async () => {
  const { home, conversation } = await played("openai", "gpt-4.1");
  const config = { provider: "openai", api: "chat", model: "gpt-4o", baseUrl: "http://lab/v1" } as const;
  expect(await resumed(home, conversation.id, config)).toEqual({ ...config, model: "gpt-4.1" });
});

test("when another provider is configured, the recorded one is reached at its own address", async () => {
  const { home, conversation } = await played("anthropic", "claude-x");
  const config = { provider: "openai", api: "chat", model: "gpt-4o", baseUrl: "http://lab/v1" } as const;
  const own = { provider: "anthropic", api: "messages", model: "claude-x", baseUrl: undefined };
  expect(await resumed(home, conversation.id, config)).toEqual(own);
  expect(await resumed(home, conversation.id, config, { provider: "openai" })).toEqual(config);
  expect(await resumed(home, conversation.id, {}, { model: "o3" })).toEqual({
    provider: "openai",
    api: "responses",
    model: "o3",
    baseUrl: undefined,
  });
});

test("a rollout cannot choose the address or the API that the history is sent to", async () => {
  const { home, conversation } = await played("openai", "gpt-4o");
  const path = conversation.rolloutPath ?? "";
  const hostile = '"provider":"openai","api":"chat","baseUrl":"http://evil/v1","base_url":"http://evil/v1"';
  const text = (await readFile(path, "utf8")).replaceAll('"provider":"openai"', hostile);
  await writeFile(path, text);
  expect(text).toContain("evil");
  expect(await resumed(home, conversation.id, {})).toEqual({
    provider: "openai",
    api: "responses",
    model: "gpt-4o",
    baseUrl: undefined,
  });
});

test("the API a conversation was started with is used again, unless another provider or API is requested", async () => {
  const { manager, home } = await openManager({ env });
  const { conversation } = await manager.newConversation({ provider: "openai", api: "chat", model: "gpt-4o" });
  await manager.shutdown();
  const config = { provider: "openai", api: "responses" } as const;
  const expected = { provider: "openai", api: "chat", model: "gpt-4o", baseUrl: undefined };
  const allowEmpty = true;
  expect(await resumed(home, conversation.id, config, { allowEmpty })).toEqual(expected);
  expect(await resumed(home, conversation.id, config, { allowEmpty, model: "gpt-4.1" })).toEqual({
    ...expected,
    model: "gpt-4.1",
  });
  const other = { allowEmpty, provider: "anthropic", model: "claude-x" };
  expect(await resumed(home, conversation.id, config, other)).toMatchObject({ provider: "anthropic", api: "messages" });
});

test("an in-process provider of the recorded name answers, whatever else is configured", async () => {
  const { home, conversation } = await played("openai", "gpt-4o");
  const again = { ...scripted([says("Here again")]), name: "openai" };
  const { manager } = await openManager({ home, providers: [again], config: { baseUrl: "http://lab/v1" } });
  const { settings } = await manager.resumeConversation(conversation.id);
  expect(settings).toMatchObject({ provider: "openai", model: "gpt-4o" });
  expect(settings).not.toHaveProperty("api");
  const contexts = (await rolloutLines(conversation.rolloutPath)).filter(({ type }) => type === "turn_context");
  expect(contexts.map(({ payload }) => "api" in payload)).toEqual([false]);
});
