import { expect, test } from "vitest";
import { maxQueuedInputs } from "../../src/actors/conversation/conversation.js";
import type { ModelEvent } from "../../src/messages/model.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { assistant, beginsAndHangs, calls, fails, says, scripted, user } from "../support/scripted-provider.js";

test("a turn emits its events in order and ends saved", async () => {
  const { conversation, conversationId, events } = await openConversation({
    provider: scripted([says("Hello there")]),
  });
  const id = await conversation.submit([{ type: "text", text: "Hi" }]);
  const end = await events.until("task_complete");
  expect(events.types()).toEqual([
    "session_configured",
    "task_started",
    "raw_response_item",
    "user_message",
    "agent_message_delta",
    "agent_message_delta",
    "raw_response_item",
    "agent_message",
    "token_count",
    "task_complete",
  ]);
  expect(end).toMatchObject({ last_agent_message: "Hello there", saved: true });
  expect(end.duration_ms).toBeGreaterThan(0);
  expect(events.seen.map(({ seq }) => seq)).toEqual(events.seen.map((_, index) => index));
  expect(new Set(events.seen.map((event) => event.conversation_id))).toEqual(new Set([conversationId]));
  expect(events.seen.map((event) => event.id)).toEqual(["", ...Array.from({ length: 9 }, () => id)]);
  expect(conversation.getHistory()).toEqual([user("Hi"), assistant("Hello there")]);
  expect(conversation.turn).toMatchObject({ status: { status: "completed" }, text: "Hello there" });
});

test("when a turn is reported complete, all of it is in the file except the deltas", async () => {
  const { conversation, events } = await openConversation({ provider: scripted([says("Answer")]) });
  await conversation.submit("Question");
  await events.until("task_complete");
  const lines = await rolloutLines(conversation.rolloutPath);
  expect(lines.map((line) => [line.type, line.payload["type"]].filter(Boolean).join(" "))).toEqual([
    "session_meta",
    "event_msg task_started",
    "turn_context",
    "response_item message",
    "event_msg user_message",
    "response_item message",
    "event_msg agent_message",
    "event_msg token_count",
    "event_msg task_complete",
  ]);
  expect(lines[0]).toMatchObject({
    metadata: { provider: "scripted", model: "scripted", format: 1 },
    payload: { originator: "cody", source: "exec", session_source: "non_interactive" },
  });
});

test("an interrupt during the answer aborts the turn, and the partial answer is discarded", async () => {
  const provider = scripted([beginsAndHangs("Once upon"), says("Fine")]);
  const { conversation, events } = await openConversation({ provider });
  await conversation.submit("Tell a story");
  await events.until("agent_message_delta");
  expect(conversation.turn).toMatchObject({ status: { status: "processing" }, text: "Once upon" });
  await conversation.interrupt();
  expect(await events.until("turn_aborted")).toMatchObject({ reason: "interrupted", saved: true });
  expect(conversation.turn?.status).toEqual({ status: "cancelled" });
  expect(JSON.stringify(conversation.getHistory())).not.toContain("Once upon");
  await conversation.submit("Go on");
  await events.until("task_complete");
  expect(events.types().filter((type) => type === "turn_aborted" || type === "task_complete")).toHaveLength(2);
});

test("a model that ignores the interrupt does not delay the end of the turn", async () => {
  const provider = {
    name: "deaf",
    async *stream() {
      yield { type: "text_delta", itemId: "1", delta: "x" } as const;
      await new Promise(() => undefined);
    },
  };
  const { conversation, events } = await openConversation({ provider });
  await conversation.submit("Hello");
  await events.until("agent_message_delta");
  await conversation.interrupt();
  expect(await events.until("turn_aborted")).toMatchObject({ reason: "interrupted" });
});

test("inputs are queued in order, and one beyond the limit is refused", async () => {
  const replies = [beginsAndHangs("…"), ...Array.from({ length: maxQueuedInputs }, (_, n) => says(`answer ${n}`))];
  const provider = scripted(replies);
  const { conversation, events } = await openConversation({ provider });
  await conversation.submit("first");
  await events.until("agent_message_delta");
  for (let n = 0; n < maxQueuedInputs; n++) await conversation.submit(`queued ${n}`);
  const refused = await conversation.submit("one too many");
  expect((await events.until("error")).message).toContain("too many queued inputs");
  expect(events.seen.at(-1)?.id).toBe(refused);
  await conversation.interrupt();
  for (let n = 0; n < maxQueuedInputs; n++) {
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: `answer ${n}` });
  }
  expect(provider.requests.at(-1)?.input.at(-1)).toEqual(user(`queued ${maxQueuedInputs - 1}`));
});

test("a failed model call ends the turn as failed and the conversation continues", async () => {
  const { conversation, events } = await openConversation({
    provider: scripted([fails("auth", false), says("Better")]),
  });
  await conversation.submit("Hi");
  expect(await events.until("error")).toMatchObject({ message: "the model failed: auth", codex_error_info: "auth" });
  expect(await events.until("task_complete")).toMatchObject({ error: { message: "the model failed: auth" } });
  expect(conversation.turn?.status).toEqual({ status: "failed", error: "the model failed: auth" });
  await conversation.submit("Again");
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Better" });
});

test.each<[unknown, string]>([
  [
    { type: "item", itemId: "1", item: { type: "message", role: "assistant" } },
    "the stream: item: content: is missing",
  ],
  [{ type: "text_delta", itemId: "1" }, "the stream: delta: is missing"],
  [{ type: "usage", usage: {} }, "the stream: usage."],
  [{ type: "finished" }, "the stream: type: must be one of "],
])("a model whose stream yields %o has failed, and the conversation continues", async (event, complaint) => {
  const provider = scripted([[event as ModelEvent], says("better")]);
  const { conversation } = await openConversation({ provider });
  const refusal = { name: "FailureError", message: expect.stringContaining(complaint) };
  await expect(conversation.processMessage("one")).rejects.toMatchObject(refusal);
  expect(await conversation.processMessage("two")).toEqual([user("two"), assistant("better")]);
});

test("a retryable call is retried, and reports the retry", async () => {
  const provider = scripted([fails("network", true), fails("overloaded", true), says("Third time")]);
  const { conversation, events } = await openConversation({ provider });
  await conversation.submit("Hi");
  await events.until("task_complete");
  const retries = events.seen.flatMap(({ msg }) => (msg.type === "stream_error" ? [msg] : []));
  expect(retries).toMatchObject([
    { codex_error_info: "network", attempt: 1 },
    { codex_error_info: "overloaded", attempt: 2 },
  ]);
  for (const { message, attempt, max_attempts: most, wait_ms: wait = -1 } of retries) {
    expect(message).toMatch(new RegExp(`; retrying in [0-9.]+ s \\(${attempt}/${most}\\)$`));
    expect(wait).toBeGreaterThanOrEqual(0);
  }
  expect(provider.requests).toHaveLength(3);
});

test.each(["The server had an error.", "Sorry about that!", "Bad gateway"])(
  "the retry message continues the sentence %j",
  async (said) => {
    const failure = { code: "server", message: said, retryable: true } as const;
    const { conversation, events } = await openConversation({
      provider: scripted([[{ type: "failed", failure }], says("Fine")]),
    });
    await conversation.submit("Hi");
    await events.until("task_complete");
    const [retry] = events.seen.flatMap(({ msg }) => (msg.type === "stream_error" ? [msg.message] : []));
    expect(retry).toMatch(new RegExp(`^${said.replace(/[.!]$/, "")}; retrying in `));
  },
);

test("a partly shown answer is not retried", async () => {
  const [delta] = says("Half an answer");
  const provider = scripted([delta === undefined ? [] : [delta], says("never")]);
  const { conversation, events } = await openConversation({ provider });
  await conversation.submit("Hi");
  expect(await events.until("task_complete")).toMatchObject({
    error: { message: "the answer ended before it was complete" },
  });
  expect(provider.requests).toHaveLength(1);
});

test("a call of an unknown tool is answered, so that calls and outputs stay paired", async () => {
  const provider = scripted([calls("teleport", "call_1"), says("I cannot")]);
  const { conversation, events } = await openConversation({ provider });
  await conversation.submit("Beam me up");
  await events.until("task_complete");
  expect(provider.requests[1]?.input.slice(-2)).toEqual([
    { type: "function_call", name: "teleport", arguments: "{}", call_id: "call_1" },
    { type: "function_call_output", call_id: "call_1", output: "unknown tool teleport", success: false },
  ]);
});

test("unsupported ops are refused by name", async () => {
  const { conversation, events } = await openConversation({ provider: scripted([]) });
  await conversation.submit({ type: "list_custom_prompts" });
  expect((await events.until("error")).message).toBe('"list_custom_prompts" is not supported yet');
  const answered = conversation.submit({ type: "exec_approval", id: "nobody", decision: "approved" });
  await expect(answered).rejects.toThrow("no open approval request nobody");
});

test("an invalid submission is refused with the path of the error, and nothing is queued", async () => {
  const { conversation } = await openConversation({ provider: scripted([]) });
  await expect(conversation.submit([])).rejects.toThrow("submission: items: at least one input is needed");
  await expect(conversation.submit({ type: "teleport" } as never)).rejects.toThrow("submission: ");
  expect(conversation.turn).toBeUndefined();
});

test("settings of a submission apply to the turns that follow and are recorded", async () => {
  const provider = scripted([says("one"), says("two")]);
  const { conversation, events } = await openConversation({ provider });
  await conversation.submit({ type: "override_turn_context", model: "other-model", approval_policy: "never" });
  await conversation.submit("Hi");
  await events.until("task_complete");
  expect(provider.requests[0]?.model).toBe("other-model");
  const context = (await rolloutLines(conversation.rolloutPath)).find((line) => line.type === "turn_context");
  expect(context?.payload).toMatchObject({
    model: "other-model",
    approval_policy: "never",
    provider: "scripted",
    // Under both names: Codex up to 0.58 reads `mode`, later versions `type`.
    sandbox_policy: { type: "workspace-write", mode: "workspace-write", network_access: false },
  });
});

const nextTick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

test("an interrupt that races with the end of the turn gives exactly one end event", async () => {
  const rounds = 300;
  const provider = scripted(Array.from({ length: rounds }, () => says("ok")));
  const { conversation, events } = await openConversation({ provider, config: { persistence: { enabled: false } } });
  const submitted: string[] = [];
  for (let round = 0; round < rounds; round++) {
    submitted.push(await conversation.submit("Hi"));
    // Every round interrupts a little later: in the microtasks before the turn scans its files, and in the microtasks
    // and ticks after its answer.
    if (round % 2 === 1) await events.until("agent_message_delta");
    const step = round % 4 === 3 ? nextTick : () => Promise.resolve();
    for (let steps = round % 60; steps > 0; steps--) await step();
    await conversation.interrupt();
    await events.untilAny(["task_complete", "turn_aborted"]);
  }
  await conversation.shutdown();
  await events.until("shutdown_complete");
  const ends = events.seen.filter(({ msg }) => msg.type === "task_complete" || msg.type === "turn_aborted");
  expect(ends.map(({ id }) => id)).toEqual(submitted);
  expect(new Set(ends.map(({ msg }) => msg.type))).toEqual(new Set(["task_complete", "turn_aborted"]));
});

test("the cost of a turn is reported when the model's price is known, and the total continues after a resume", async () => {
  const price = { input: 1_000, output: 10_000 };
  const config = { models: { scripted: { price } } };
  const provider = scripted([calls("nothing", "1"), says("One"), says("Two")]);
  const { conversation, conversationId, events, manager, home } = await openConversation({ provider, config });
  await conversation.submit("Hi");
  // Each call uses ten input tokens and five output tokens.
  expect(await events.until("task_complete")).toMatchObject({ cost_usd: 0.12 });
  await manager.shutdown();
  const next = await openManager({ home, config, providers: [scripted([says("Two")])] });
  const resumed = await next.manager.resumeConversation(conversationId);
  const log = new EventLog(resumed);
  await resumed.submit("More");
  expect((await log.until("task_complete")).cost_usd).toBeCloseTo(0.06, 10);
  expect(resumed.usage?.cost?.total_usd).toBeCloseTo(0.18, 10);
  await next.manager.shutdown();
  const unpriced = await openManager({ home, providers: [scripted([says("Three")])] });
  const later = await unpriced.manager.resumeConversation(conversationId);
  const laterLog = new EventLog(later);
  await later.submit("More");
  expect(await laterLog.until("task_complete")).not.toHaveProperty("cost_usd");
});
