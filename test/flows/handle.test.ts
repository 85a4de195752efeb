import { mkdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { ConversationManager } from "../../src/manager.js";
import { assistant, beginsAndHangs, says, scripted, user } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("processMessage runs one turn and returns its items", async () => {
  const { conversation } = await openConversation({ provider: scripted([says("one"), says("two")]) });
  expect(await conversation.processMessage("first")).toEqual([user("first"), assistant("one")]);
  expect(await conversation.processMessage([{ type: "text", text: "second" }])).toEqual([
    user("second"),
    assistant("two"),
  ]);
});

test("processMessage accepts ops that start a turn and no others", async () => {
  const { conversation } = await openConversation({ provider: scripted([]) });
  const refusal = "input: expected a text or a list";
  await expect(conversation.processMessage({ type: "interrupt" } as never)).rejects.toThrow(refusal);
  await expect(conversation.processMessage(null as never)).rejects.toThrow(refusal);
});

test("opening a conversation without an id is refused with a clear message", async () => {
  const { manager } = await openManager();
  const complaint = "expected the id or the name of a conversation";
  await expect(manager.resumeConversation(undefined as never)).rejects.toThrow(complaint);
  await expect(manager.forkConversation(5 as never)).rejects.toThrow(complaint);
});

test("history has plain text parts only on request", async () => {
  const { conversation } = await openConversation({ provider: scripted([says("one")]) });
  await conversation.processMessage("first");
  expect(conversation.getHistory({ content: "text" })).toEqual([
    { type: "message", role: "user", content: [{ type: "text", text: "first" }] },
    { type: "message", role: "assistant", content: [{ type: "text", text: "one" }] },
  ]);
});

test("replaceHistory changes what the model sees and nothing else", async () => {
  const provider = scripted([says("one"), says("two")]);
  const { conversation } = await openConversation({ provider });
  await conversation.processMessage("first");
  const { settings } = conversation;
  await conversation.replaceHistory([user("a summary")]);
  expect(conversation.getHistory()).toEqual([user("a summary")]);
  expect(conversation.settings).toBe(settings);
  await conversation.processMessage("second");
  expect(provider.requests[1]?.input).toEqual([user("a summary"), user("second")]);
  await expect(conversation.replaceHistory([{ type: "message" } as never])).rejects.toThrow("item 0: ");
});

test("the initial context is the system prompt with folder, platform and date", async () => {
  const provider = scripted([says("one")]);
  const { conversation, cwd } = await openConversation({ provider, now: () => new Date("2026-11-16T12:00:00Z") });
  await conversation.processMessage("first");
  const instructions = provider.requests[0]?.instructions ?? "";
  expect(conversation.getInitialContext()).toEqual([
    { type: "message", role: "developer", content: [{ type: "input_text", text: instructions }] },
  ]);
  expect(instructions).toContain(`Current working directory: ${cwd}`);
  expect(instructions).toContain(`Platform: ${process.platform}`);
  expect(instructions).toContain("Date: 2026-11-16");
});

test("a local image is read when it is submitted, and an unreadable one is refused", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "dot.png"), Buffer.from([0x89, 0x50]));
  const provider = scripted([says("a dot")]);
  const { manager } = await openManager({ providers: [provider] });
  const { conversation } = await manager.newConversation({ provider: "scripted", model: "m", cwd });
  await conversation.submit([
    { type: "text", text: "what is this?" },
    { type: "local_image", path: "dot.png" },
  ]);
  await new EventLog(conversation).until("task_complete");
  expect(provider.requests[0]?.input).toEqual([
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "what is this?" },
        { type: "input_image", image_url: "data:image/png;base64,iVA=" },
      ],
    },
  ]);
  await mkdir(join(cwd, "folder.png"));
  for (const path of ["missing.png", "secrets.txt", "folder.png"]) {
    await expect(conversation.submit([{ type: "local_image", path }])).rejects.toThrow(`image ${path}: `);
  }
});

test("a conversation keeps a caller-chosen id, and ids are unique", async () => {
  const { manager } = await openManager();
  const { conversationId } = await manager.newConversation({ id: "my-own-id" });
  expect(conversationId).toBe("my-own-id");
  await expect(manager.newConversation({ id: "my-own-id" })).rejects.toThrow("already exists");
  await manager.shutdown();
});

test("a new conversation never overwrites an existing file", async () => {
  const { manager, home } = await openManager();
  const { conversation } = await manager.newConversation({ id: "my-own-id" });
  await conversation.processMessage("my name is Alice");
  await manager.shutdown();
  const second = await openManager({ home });
  await expect(second.manager.newConversation({ id: "my-own-id" })).rejects.toThrow("already exists");
  expect((await second.manager.resumeConversation("my-own-id")).getHistory()).toHaveLength(2);
});

test("without keys the offline model answers, and says that it is offline", async () => {
  const { manager } = await openManager({ env: {} });
  const { conversation } = await manager.newConversation();
  expect(conversation.notice).toContain("OPENAI_API_KEY");
  expect(conversation.settings).toMatchObject({ provider: "offline", model: "offline" });
  expect(JSON.stringify(await conversation.processMessage("What is 2+2?"))).toContain("4");
});

test("a named provider without its key is refused with a clear message", async () => {
  const { manager } = await openManager({ env: {} });
  await expect(manager.newConversation({ provider: "openai" })).rejects.toThrow(
    "OPENAI_API_KEY environment variable is required for OpenAI models.",
  );
});

test("an invalid configuration is refused when the manager is created", async () => {
  await expect(openManager({ config: { modle: "x" } as never })).rejects.toThrow("config: ");
});

test.each([
  [{ tokeniser: { countTokens: () => 1 } }, 'manager: unknown key "tokeniser"'],
  [{ model: "gpt-4o" }, "manager: model is a setting: pass it in config"],
  [{ source: "cli" }, "manager: source: must be one of "],
  [{ home: 5 }, "manager: home: must be a text"],
  [{ tokenizer: () => 1 }, "manager: tokenizer: must be an object with countTokens()"],
  [{ client: {} }, "manager: client: must be an object with sendMessage()"],
  [{ recorder: { appendTurn: () => undefined } }, "manager: recorder: must be an object with readRollout()"],
  [{ tools: { name: "mine" } }, "manager: tools: must be a list"],
  [{ providers: [{ name: "mine" }] }, "manager: providers.0: must be an object with stream()"],
  [{ retry: { maxRetries: 1, baseDelayMs: 1, maxDelayMs: 1, jitter: 1 } }, 'manager: retry: unknown key "jitter"'],
  [
    { retry: { maxRetries: Number.NaN, baseDelayMs: 1, maxDelayMs: 1 } },
    "manager: retry.maxRetries: must be 0 or more",
  ],
  [{ now: new Date() }, "manager: now: must be a function"],
  [null, "manager: must be an object"],
])("invalid manager options are refused: %o", (options, complaint) => {
  expect(() => new ConversationManager(options as never)).toThrow(
    expect.objectContaining({ name: "InvalidInputError", message: expect.stringContaining(complaint) }),
  );
});

test.each([
  [{ modle: "gpt-4o" }, 'conversation: unknown key "modle"'],
  [{ approvalPolicy: "always" }, "conversation: approvalPolicy: must be one of "],
  [{ sandbox: "none" }, "conversation: sandbox: must be one of "],
  [
    { turnLimits: { steps: 1 } },
    "conversation: turnLimits cannot be set for one conversation: pass it in the manager's config",
  ],
  [{ id: 5 }, "conversation: id: must be a text"],
  [{ cwd: "" }, "conversation: cwd: "],
  [null, "conversation: must be an object"],
])("invalid options for creating, resuming or forking a conversation are refused: %o", async (config, complaint) => {
  const { conversation, conversationId, manager } = await openConversation({ provider: scripted([says("one")]) });
  await conversation.processMessage("first");
  const refusal = { name: "InvalidInputError", message: expect.stringContaining(complaint) };
  await expect(manager.newConversation(config as never)).rejects.toMatchObject(refusal);
  await expect(manager.forkConversation(conversationId, config as never)).rejects.toMatchObject(refusal);
  if (config !== null && "id" in config) return;
  await expect(manager.resumeConversation(conversationId, config as never)).rejects.toMatchObject(refusal);
});

test("a relative conversation folder is resolved against the manager's and stored as an absolute path", async () => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "site"));
  const { manager } = await openManager({ cwd });
  const { conversation } = await manager.newConversation({ cwd: "site" });
  expect(conversation.settings.cwd).toBe(join(cwd, "site"));
  await conversation.submit({ type: "override_turn_context", cwd: "pages" });
  await conversation.processMessage("hi");
  expect(conversation.settings.cwd).toBe(join(cwd, "site", "pages"));
});

test("a home is stored as an absolute path, and an empty home is refused", async () => {
  const home = await temporaryFolder();
  const { manager } = await openManager({ home: relative(process.cwd(), home) });
  const { conversation } = await manager.newConversation();
  expect(conversation.rolloutPath).toBe(join(home, "conversations", `${conversation.id}.jsonl`));
  expect(() => new ConversationManager({ home: "" })).toThrow("home: expected the path of a directory");
});

test("submissions are accepted in the order they were made, also when one has an image to read", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "dot.png"), Buffer.alloc(100_000));
  const provider = scripted([says("one"), says("two")]);
  const { manager } = await openManager({ providers: [provider], cwd });
  const { conversation } = await manager.newConversation({ provider: "scripted", model: "m" });
  const events = new EventLog(conversation);
  const first = conversation.submit([
    { type: "text", text: "FIRST" },
    { type: "local_image", path: "dot.png" },
  ]);
  const second = conversation.submit("SECOND");
  await Promise.all([first, second]);
  expect((await events.until("user_message")).message).toBe("FIRST");
  expect((await events.until("user_message")).message).toBe("SECOND");
});

test("a submission that is too large to read back, or that JSON cannot hold, is refused", async () => {
  const { conversation } = await openConversation({ provider: scripted([says("one")]) });
  const large = Array.from({ length: 6 }, () => ({ type: "text" as const, text: "x".repeat(9_000_000) }));
  await expect(conversation.submit(large)).rejects.toThrow("submission: larger than");
  const item = { ...user("x"), size: 1n };
  await expect(conversation.replaceHistory([item])).rejects.toThrow("history: cannot be converted to JSON");
  const deep = { ...user("x"), in: JSON.parse("[".repeat(500) + "]".repeat(500)) as unknown };
  await expect(conversation.replaceHistory([deep])).rejects.toThrow("history: nested too deeply");
  expect(conversation.getHistory()).toEqual([]);
  expect(await conversation.processMessage("fine")).toHaveLength(2);
});

test("every input runs with the settings in force when it was submitted", async () => {
  const provider = scripted([beginsAndHangs("…"), says("b"), says("c")]);
  const { conversation, events } = await openConversation({ provider });
  await conversation.submit("a");
  await events.until("agent_message_delta");
  await conversation.submit({ type: "override_turn_context", model: "model-b" });
  await conversation.submit("b");
  await conversation.submit({ type: "override_turn_context", model: "model-c" });
  await conversation.submit("c");
  await conversation.interrupt();
  await events.until("task_complete");
  await events.until("task_complete");
  expect(provider.requests.map(({ model }) => model)).toEqual(["scripted", "model-b", "model-c"]);
});

test("a provider that always answers at once still lets an interrupt through", async () => {
  const endless = {
    name: "endless",
    async *stream() {
      for (;;) yield { type: "text_delta", itemId: "1", delta: "x" } as const;
    },
  };
  const { conversation, events } = await openConversation({ provider: endless });
  await conversation.submit("Hi");
  await events.until("agent_message_delta");
  await new Promise(setImmediate);
  await conversation.interrupt();
  expect(await events.until("turn_aborted")).toMatchObject({ reason: "interrupted" });
});

test("a UUID given as an id is shown and saved like every other", async () => {
  const { manager } = await openManager();
  const uuid = "0192aaaa-bbbb-7ccc-8ddd-eeeeffff0001";
  const { conversationId, conversation } = await manager.newConversation({ id: uuid });
  expect(conversationId).toBe(`conv_${uuid}`);
  expect(conversation.rolloutPath).toContain(`conv_${uuid}.jsonl`);
  await expect(manager.newConversation({ id: `conv_${uuid}` })).rejects.toThrow("already exists");
});

test("without a home option the environment says where it is", async () => {
  const home = await temporaryFolder();
  const manager = new ConversationManager({ env: { CODY_HOME: home }, cwd: home });
  const { conversation } = await manager.newConversation();
  expect(conversation.rolloutPath?.startsWith(home)).toBe(true);
  await manager.shutdown();
});
