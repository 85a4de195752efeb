import { beforeEach, describe, expect, test } from "vitest";
import { ConversationManager } from "../../src/manager.js";
import { selectRecentMessages } from "../../src/compaction/cut/cut-item.js";
import { runCompactTask } from "../../src/actors/conversation/compaction/run-compact-task.js";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { Event } from "../../src/messages/event.js";
import { messageText, type ResponseItem } from "../../src/messages/response-item.js";
import { assistant, user } from "../support/scripted-provider.js";
import { createMockClient, createMockTokenizer } from "../support/mock-client.js";
import { nowhere, nowhereEnv, openMockedCommands } from "../support/mocked-commands.js";
import { createMockRecorder, type MockRecorder } from "../support/mock-recorder.js";

// The library is real; the model and the file system are mocked at its boundary. The commands at the end are real; the
// library is mocked beneath them.

const config = { provider: "openai", api: "responses", model: "gpt-4" } as const;
/** Project and home do not exist, so no file is read. */
const places = { cwd: nowhere, env: nowhereEnv };
let recorder: MockRecorder;
let manager: ConversationManager;

function openManager(): ConversationManager {
  return new ConversationManager({ client: createMockClient(["First answer", "Second answer"]), recorder, ...places });
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

function exchanges(count: number, text = (index: number) => `message ${index}`): ResponseItem[] {
  return Array.from({ length: count }, (_, index) => [user(text(index)), assistant(`answer ${index}`)]).flat();
}

function summaryOf(items: readonly ResponseItem[]): string {
  return items.flatMap((item) => (item.type === "message" && item.summary === true ? [messageText(item)] : [])).join();
}

function failingClient(): ReturnType<typeof createMockClient> {
  const client = createMockClient();
  client.sendMessage.mockRejectedValue(new Error("no"));
  return client;
}

describe("Compact", () => {
  const contextWindow = 100_000;
  type SendMessage = ReturnType<typeof createMockClient>["sendMessage"];

  async function open({
    tokens,
    client = createMockClient(["First answer", "Second answer"]),
  }: {
    tokens?: number;
    client?: { sendMessage: SendMessage };
  }) {
    const tokenizer = tokens === undefined ? {} : { tokenizer: createMockTokenizer(tokens) };
    const compacting = new ConversationManager({
      client,
      recorder,
      ...places,
      config: { contextWindow },
      ...tokenizer,
    });
    return { ...(await compacting.newConversation(config)), client };
  }

  function summaryCalls({ sendMessage }: { sendMessage: SendMessage }): unknown[] {
    return sendMessage.mock.calls.filter(([request]) =>
      request.messages.some(({ content }) => content.includes("concise summary")),
    );
  }

  test("12: does not compact when under threshold", async () => {
    const { conversation, client } = await open({ tokens: 1000 });
    await chat(conversation, "Hello");
    expect(client.sendMessage).toHaveBeenCalledTimes(1);
  });

  test("13: triggers compact when over threshold", async () => {
    const { conversation, client } = await open({ tokens: 85_000 });
    await chat(conversation, "Hello");
    expect(summaryCalls(client)).toHaveLength(1);
  });

  test("14: rebuilds history with summary", async () => {
    const { conversation } = await open({});
    await conversation.replaceHistory(exchanges(10));
    await runCompactTask(conversation);
    const compacted = conversation.getHistory();
    expect(compacted.length).toBeLessThan(20);
    expect(summaryOf(compacted)).toBe("Summary of earlier conversation:\n\nSummary of conversation");
    expect(conversation.getInitialContext()).toHaveLength(1);
  });

  test("15: preserves recent user messages", async () => {
    const { conversation } = await open({});
    // Each has about 3,000 tokens, so six of them are in the budget and a part of the seventh.
    await conversation.replaceHistory(exchanges(10, (index) => `message ${index} ${"word ".repeat(3000)}`));
    await runCompactTask(conversation);
    const kept = conversation.getHistory().flatMap((item) => (item.type === "message" ? [messageText(item)] : []));
    expect(kept.filter((text) => text.startsWith("message 9"))).toHaveLength(1);
    expect(kept.some((text) => text.startsWith("message 0"))).toBe(false);
    expect(kept.length).toBeLessThan(10);
  });

  test("16: preserves GhostSnapshots", async () => {
    const ghost = { type: "ghost_snapshot" as const, ghost_commit: { id: "important state" } };
    const { conversation } = await open({});
    await conversation.replaceHistory([...exchanges(2), ghost, ...exchanges(2)]);
    await runCompactTask(conversation);
    expect(conversation.getHistory()).toContainEqual(ghost);
  });

  test("17: truncates middle of long messages", () => {
    const [cut = ""] = selectRecentMessages([`HEAD ${"x".repeat(200_000)} TAIL`]);
    expect(cut).toMatch(/^HEAD x+\n\n\[\.\.\. \d+ characters truncated \.\.\.\]\n\nx+ TAIL$/);
    expect(cut.length).toBeLessThan(81_000);
  });

  test("18: retries when compacted history still too large", async () => {
    const client = createMockClient();
    const overflow = Object.assign(new Error("context_length_exceeded"), { status: 400 });
    client.sendMessage.mockRejectedValueOnce(overflow);
    const { conversation } = await open({ client });
    await conversation.replaceHistory(exchanges(3));
    expect(await runCompactTask(conversation)).toMatchObject({ status: "compacted", truncatedCount: 1 });
    expect(summaryCalls(client)).toHaveLength(2);
  });

  test("19: persists CompactedItem to rollout", async () => {
    const { conversation, conversationId } = await open({});
    await chat(conversation, "Hello");
    await runCompactTask(conversation);
    const lines = recorder.getBuffer(conversationId).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual({
      type: "compacted",
      timestamp: expect.any(Number),
      summary: expect.stringContaining("Summary of conversation"),
      truncatedCount: 0,
    });
  });

  test.each([
    ["an empty answer", () => createMockClient([], ""), "keep"],
    ["a call that fails", () => failingClient(), "placeholder"],
  ] as const)("20: handles summarization failure: %s", async (_, makeClient, onFailure) => {
    const client = makeClient();
    const compacting = new ConversationManager({
      client,
      recorder,
      ...places,
      config: { contextWindow, compaction: { onFailure } },
    });
    const { conversation } = await compacting.newConversation(config);
    await conversation.replaceHistory(exchanges(3));
    expect(await runCompactTask(conversation)).toMatchObject({ status: "compacted", source: "extracted" });
    expect(summaryOf(conversation.getHistory())).toContain("(summary unavailable)");
  });
});

test("a custom tokenizer counts an answer that has no usage", async () => {
  const tokenizer = createMockTokenizer(7);
  const counting = new ConversationManager({ client: createMockClient(["Hi"]), recorder, tokenizer, ...places });
  const { conversation } = await counting.newConversation(config);
  const events = await chat(conversation, "Hello");
  const usage = events.flatMap(({ msg }) => (msg.type === "token_count" ? [msg.info?.last_token_usage] : []));
  expect(usage).toEqual([expect.objectContaining({ input_tokens: 14, output_tokens: 7, total_tokens: 21 })]);
});

describe("CLI", () => {
  test("21: list command output", async () => {
    const { manager: listed, run } = await openMockedCommands();
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { conversation, conversationId } = await listed.newConversation(config);
      await chat(conversation, "Hello");
      ids.push(conversationId);
    }
    const { stdout, code } = await run("list");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Saved Conversations:\n\n/);
    for (const id of ids) expect(stdout).toContain(`  ${id}\n    Provider: openai (gpt-4)\n    Updated: 20`);
    expect(stdout).toMatch(/\nTotal: 3 conversation\(s\)\n$/);
  });

  test("22: list command when empty", async () => {
    const { stdout } = await (await openMockedCommands()).run("list");
    expect(stdout).toBe("No saved conversations.\nCreate one: cody new\n");
  });

  test("23: resume command success", async () => {
    const { manager: saved, run, activated } = await openMockedCommands();
    const { conversation, conversationId } = await saved.newConversation(config);
    await chat(conversation, "my name is Alice");
    await conversation.shutdown();
    expect(await run("resume", conversationId)).toMatchObject({
      code: 0,
      stdout: `✓ Resumed conversation: ${conversationId}\n  Provider: openai (gpt-4)\n  Continue chatting: cody chat "your message"\n`,
      stderr: "",
    });
    expect(activated).toEqual([conversationId]);
  });

  test("24: resume command missing ID", async () => {
    const { stderr, code } = await (await openMockedCommands()).run("resume", "nonexistent");
    expect(stderr).toBe("✗ Conversation 'nonexistent' not found\n  List available: cody list\n");
    expect(code).toBe(1);
  });
});
