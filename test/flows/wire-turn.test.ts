import { describe, expect, test } from "vitest";
import { EventLog } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { mockKey, mockLlm, wireApis, wireManager } from "../support/wire-apis.js";

describe.each(wireApis)("over $api", (spoken) => {
  const { api, provider, path, model } = spoken;

  test("a text arrives in deltas, is saved with its usage, and is sent with the next turn", async () => {
    const usage = { input_tokens: 21, output_tokens: 4 };
    const mock = await mockLlm([{ text: "Hello there, Alice", usage }, { text: "Alice" }]);
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("My name is Alice");
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Hello there, Alice" });
    const deltas = events.seen.flatMap(({ msg }) => (msg.type === "agent_message_delta" ? [msg.delta] : []));
    expect(deltas.join("")).toBe("Hello there, Alice");
    const counts = events.seen.flatMap(({ msg }) => (msg.type === "token_count" ? [msg.info?.last_token_usage] : []));
    expect(counts).toMatchObject([{ ...usage, total_tokens: 25 }]);
    await conversation.submit("What is my name?");
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Alice" });
    expect(mock.requests.map((request) => [request.path, request.status])).toEqual([
      [path, 200],
      [path, 200],
    ]);
    expect(mock.requests[1]?.body).toMatchObject({ model });
    expect(JSON.stringify(mock.requests[1]?.body)).toContain("Hello there, Alice");
  });

  test("the rollout records which API was used, and neither the key nor the address", async () => {
    const mock = await mockLlm([{ text: "Hello" }]);
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation();
    await conversation.processMessage("Hi");
    await conversation.flush();
    const lines = await rolloutLines(conversation.rolloutPath);
    expect(lines.find(({ type }) => type === "turn_context")?.payload).toMatchObject({ provider, api, model });
    expect(JSON.stringify(lines)).not.toContain(mockKey);
    expect(JSON.stringify(lines)).not.toContain(mock.url);
  });

  test("reasoning is shown apart from the answer", async () => {
    const mock = await mockLlm([{ reasoning: "They greet me.", text: "Hello" }, { text: "Still here" }]);
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation({ effort: "high" });
    const events = new EventLog(conversation);
    await conversation.submit("Hi");
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Hello" });
    const thoughts = events.seen.flatMap(({ msg }) => (msg.type === "agent_reasoning_delta" ? [msg.delta] : []));
    expect(thoughts.join("")).toBe("They greet me.");
    await conversation.submit("And now?");
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Still here" });
  });

  test("an interrupt in the middle of the stream aborts the turn, and the next one is answered", async () => {
    const mock = await mockLlm([{ text: "Once upon a time", delayMs: 600_000 }, { text: "Fine" }]);
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Tell a story");
    await events.until("agent_message_delta");
    await conversation.interrupt();
    expect(await events.until("turn_aborted")).toMatchObject({ reason: "interrupted", saved: true });
    expect(JSON.stringify(conversation.getHistory())).not.toContain("Once");
    await conversation.submit("Go on");
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Fine" });
  });

  test("a context that is too long fails the turn with that code, is not retried, and the conversation continues", async () => {
    const mock = await mockLlm([{ fault: { type: "overflow" } }, { text: "Better" }]);
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Very much");
    expect(await events.until("error")).toMatchObject({ codex_error_info: "context_overflow" });
    await events.until("task_complete");
    expect(events.types()).not.toContain("stream_error");
    await conversation.submit("Less");
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Better" });
    expect(mock.requests.map(({ status }) => status)).toEqual([400, 200]);
  });

  test("each retryable failure is reported as an event and retried", async () => {
    const mock = await mockLlm([
      { fault: { type: "status", status: 429 } },
      { fault: { type: "status", status: 500 } },
      { text: "Third time" },
    ]);
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Hi");
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Third time" });
    expect(events.types().filter((type) => type === "stream_error")).toHaveLength(2);
    expect(mock.requests).toHaveLength(3);
  });

  test("a refused key fails the turn without showing the key", async () => {
    const mock = await mockLlm([{ text: "never" }]);
    const wrong = "sk-wrong-9876543210";
    const { manager } = await wireManager(mock, spoken, {
      env: { OPENAI_API_KEY: wrong, ANTHROPIC_API_KEY: wrong },
      config: { provider, api, model, baseUrl: provider === "openai" ? `${mock.url}/v1` : mock.url },
    });
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Hi");
    expect(await events.until("error")).toMatchObject({ codex_error_info: "auth" });
    await events.until("task_complete");
    expect(JSON.stringify(events.seen)).not.toContain(wrong);
    expect(mock.requests).toHaveLength(1);
  });

  test("an unreachable server is named and retried, and the key is not shown", async () => {
    const mock = await mockLlm();
    await mock.close();
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Hi");
    const error = await events.until("error");
    expect(error).toMatchObject({
      codex_error_info: "network",
      message: expect.stringContaining(`127.0.0.1:${mock.port}`),
    });
    await events.until("task_complete");
    expect(events.types().filter((type) => type === "stream_error")).toHaveLength(2);
    expect(JSON.stringify(events.seen)).not.toContain(mockKey);
  });
});
