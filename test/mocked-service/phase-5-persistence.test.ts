import { beforeEach, describe, expect, test } from "vitest";
import { ConversationManager } from "../../src/cody.js";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { Event } from "../../src/messages/event.js";
import { Cli } from "../support/cli.js";
import { createMockClient, createMockTokenizer } from "../support/mock-client.js";
import { createMockRecorder, type MockRecorder } from "../support/mock-recorder.js";

// The library is real; the model and the file system are mocked at its boundary. The commands at the end run as
// processes in a folder of their own.

const config = { provider: "openai", api: "responses", model: "gpt-4" } as const;
let recorder: MockRecorder;
let manager: ConversationManager;

function openManager(): ConversationManager {
  return new ConversationManager({ client: createMockClient(["First answer", "Second answer"]), recorder });
}

async function chat(conversation: Conversation, text: string): Promise<Event[]> {
  await conversation.submit([{ type: "text", text }]);
  const events: Event[] = [];
  for (;;) {
    const event = await conversation.nextEvent();
    events.push(event);
    if (event.msg.type === "task_complete") return events;
  }
}

beforeEach(() => {
  recorder = createMockRecorder();
  manager = openManager();
});

describe("Auto-Save", () => {
  test("1: appends turn to JSONL after each message", async () => {
    const { conversation, conversationId } = await manager.newConversation(config);
    await chat(conversation, "First");
    await chat(conversation, "Second");
    expect(recorder.appended()).toBe(2);
    const lines = recorder.getBuffer(conversationId).trim().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain("First");
    expect(lines[1]).toContain("Second answer");
  });

  test("2: includes metadata in rollout", async () => {
    const { conversation, conversationId } = await manager.newConversation(config);
    await chat(conversation, "Test");
    const [first = ""] = recorder.getBuffer(conversationId).split("\n");
    expect(JSON.parse(first)).toMatchObject({ metadata: { provider: "openai", model: "gpt-4" } });
  });

  test("3: handles append failure gracefully", async () => {
    recorder = createMockRecorder({ failWith: "permission denied" });
    const { conversation } = await openManager().newConversation(config);
    const events = await chat(conversation, "Hello");
    const messages = events.map((event) => event.msg);
    expect(messages).toContainEqual({ type: "warning", message: "Failed to save turn: permission denied" });
    expect(messages.at(-1)).toMatchObject({ last_agent_message: "First answer", saved: false });
    expect((await chat(conversation, "Still there?")).at(-1)?.msg).toMatchObject({
      last_agent_message: "Second answer",
    });
  });
});

describe("Resume", () => {
  test("4: reconstructs conversation from JSONL", async () => {
    const { conversation, conversationId } = await manager.newConversation(config);
    await chat(conversation, "First message");
    await chat(conversation, "Second message");
    const history = conversation.getHistory();
    const resumed = await openManager().resumeConversation(conversationId);
    expect(resumed.getHistory()).toEqual(history);
    await chat(resumed, "Third message");
    expect(resumed.getHistory()).toHaveLength(history.length + 2);
  });

  test("5: throws on missing conversation", async () => {
    await expect(manager.resumeConversation("nonexistent-id")).rejects.toMatchObject({
      name: "ConversationNotFoundError",
      code: "CONVERSATION_NOT_FOUND",
      message: "Conversation nonexistent-id not found. Run: cody list",
    });
  });

  test("6: handles corrupted JSONL", async () => {
    recorder.setBuffer("test-id", "invalid json\n{broken");
    await expect(manager.resumeConversation("test-id")).rejects.toMatchObject({
      code: "CORRUPTED_ROLLOUT",
      message: "Conversation test-id: line 1: cannot be parsed as JSON",
    });
  });

  test("7: handles empty rollout file", async () => {
    recorder.setBuffer("test-id", "");
    await expect(manager.resumeConversation("test-id")).rejects.toMatchObject({
      name: "EmptyRolloutError",
      message: "Conversation test-id has no turns",
    });
  });

  test("8: preserves provider/model from rollout", async () => {
    const items = [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }];
    const metadata = { provider: "anthropic", model: "claude-sonnet-4-20250514" };
    recorder.setBuffer("test-id", JSON.stringify({ timestamp: 1_699_564_800, items, metadata }));
    const resumed = await manager.resumeConversation("test-id");
    expect(resumed.settings).toMatchObject(metadata);
    expect((await resumed.nextEvent()).msg).toMatchObject({
      type: "session_configured",
      model_provider_id: "anthropic",
      model: "claude-sonnet-4-20250514",
    });
  });
});

describe("List", () => {
  test("9: returns all saved conversations", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push((await manager.newConversation(config)).conversationId);
    const listed = await manager.listConversations();
    expect(listed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test("10: returns empty array when no conversations", async () => {
    expect(await manager.listConversations()).toEqual([]);
  });

  test("11: includes metadata in list", async () => {
    const { conversation, conversationId } = await manager.newConversation(config);
    await chat(conversation, "Hello");
    expect(await openManager().listConversations()).toEqual([
      { id: conversationId, provider: "openai", model: "gpt-4", updatedAt: expect.any(Number) },
    ]);
  });
});

test("a mock tokenizer decides what an answer without usage counts as", async () => {
  const tokenizer = createMockTokenizer(7);
  const counting = new ConversationManager({ client: createMockClient(["Hi"]), recorder, tokenizer });
  const { conversation } = await counting.newConversation(config);
  const events = await chat(conversation, "Hello");
  const usage = events.flatMap(({ msg }) => (msg.type === "token_count" ? [msg.info?.last_token_usage] : []));
  expect(usage).toEqual([expect.objectContaining({ input_tokens: 14, output_tokens: 7, total_tokens: 21 })]);
});

describe("CLI", () => {
  test("21: list command output", async () => {
    const cli = await Cli.open();
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push((await cli.run(["new"])).stdout.trim());
    const { stdout, code } = await cli.run(["list"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Saved Conversations:\n\n/);
    for (const id of ids) expect(stdout).toContain(`  ${id} (empty)\n    Provider: offline (offline)\n    Updated: 20`);
    expect(stdout).toMatch(/\nTotal: 3 conversation\(s\)\n$/);
  });

  test("22: list command when empty", async () => {
    const { stdout } = await (await Cli.open()).run(["list"]);
    expect(stdout).toBe("No saved conversations.\nCreate one: cody new\n");
  });

  test("23: resume command success", async () => {
    const cli = await Cli.open();
    const first = (await cli.run(["new"])).stdout.trim();
    await cli.run(["chat", "my name is Alice"]);
    await cli.run(["new"]);
    const { stdout, code } = await cli.run(["resume", first]);
    expect(code).toBe(0);
    expect(stdout).toBe(
      `✓ Resumed conversation: ${first}\n  Provider: offline (offline)\n  Continue chatting: cody chat "your message"\n`,
    );
    expect((await cli.run(["chat", "What is my name?"])).stdout).toContain("Alice");
  });

  test("24: resume command missing ID", async () => {
    const { stderr, code } = await (await Cli.open()).run(["resume", "nonexistent"]);
    expect(stderr).toBe("✗ Conversation 'nonexistent' not found\n  List available: cody list\n");
    expect(code).toBe(1);
  });
});
