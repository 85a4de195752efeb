import { expect, test } from "vitest";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import { openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { assistant, beginsAndHangs, calls, says, scripted, user } from "../support/scripted-provider.js";

const usage = {
  input_tokens: 10,
  cached_input_tokens: 0,
  output_tokens: 5,
  reasoning_output_tokens: 0,
  total_tokens: 15,
};

/** The history as another reader of the file would get it. */
function asJson({ history }: Conversation): unknown {
  return JSON.parse(JSON.stringify(history));
}

test("the history lists its turns with messages, calls, tokens and time, and the total tokens", async () => {
  const provider = scripted([says("Hi"), calls("nonsense", "c1", { a: 1 }), says("No such tool")]);
  const { conversation } = await openConversation({ provider, now: () => new Date("2026-11-16T00:00:00Z") });
  await conversation.processMessage("Hello");
  const first = conversation.turn?.turnId;
  await conversation.processMessage([
    { type: "text", text: "Try" },
    { type: "image", image_url: "data:image/png;base64,AAAA" },
  ]);
  const result = expect.stringContaining("nonsense");
  expect(asJson(conversation)).toEqual({
    turns: [
      {
        turn_id: first,
        messages: [
          { type: "user", content: "Hello", attachments: [] },
          { type: "assistant", content: "Hi" },
        ],
        tool_calls: [],
        token_usage: usage,
        timestamp: "2026-11-16T00:00:00.000Z",
      },
      {
        turn_id: conversation.turn?.turnId,
        messages: [
          {
            type: "user",
            content: "Try",
            attachments: [{ type: "input_image", image_url: "data:image/png;base64,AAAA" }],
          },
          { type: "tool", call_id: "c1", name: "nonsense", result },
          { type: "assistant", content: "No such tool" },
        ],
        tool_calls: [{ call_id: "c1", name: "nonsense", arguments: '{"a":1}', result }],
        token_usage: { ...usage, input_tokens: 20, output_tokens: 10, total_tokens: 30 },
        timestamp: "2026-11-16T00:00:00.000Z",
      },
    ],
    max_turns: 1_000,
    total_tokens: 45,
  });
});

test("a resumed conversation has the same history", async () => {
  const provider = scripted([says("one"), says("two"), says("three")]);
  const { manager, home, conversation, conversationId } = await openConversation({ provider });
  await conversation.processMessage("1");
  await conversation.replaceHistory([user("summary")]);
  await conversation.processMessage("2");
  const before = asJson(conversation);
  expect(before).toMatchObject({ turns: [{ turn_id: null }, { messages: [{ content: "2" }, { content: "two" }] }] });
  await manager.shutdown();
  const { manager: next } = await openManager({ home, providers: [provider] });
  expect(asJson(await next.resumeConversation(conversationId))).toEqual(before);
});

test("of more turns than maxSize the newest are listed, and the total counts all of them", async () => {
  const provider = scripted(["one", "two", "three"].map(says));
  const { conversation } = await openConversation({ provider, config: { history: { maxSize: 2 } } });
  for (const text of ["1", "2", "3"]) await conversation.processMessage(text);
  const { turns, max_turns, total_tokens } = conversation.history;
  expect(turns.map(({ messages }) => messages[0])).toEqual([
    { type: "user", content: "2", attachments: [] },
    { type: "user", content: "3", attachments: [] },
  ]);
  expect({ max_turns, total_tokens }).toEqual({ max_turns: 2, total_tokens: 45 });
  expect(conversation.history.getMessagesForApi()).toEqual(turns.flatMap(({ messages }) => messages));
});

test("the size of the model's context is estimated, or counted by the tokenizer", async () => {
  const provider = scripted([says("four"), says("x")]);
  const { conversation } = await openConversation({ provider });
  await conversation.processMessage("1234");
  expect(conversation.history.estimateTokens()).toBe(2);
  const counting = await openConversation({ provider, tokenizer: { countTokens: (text) => text.length } });
  await counting.conversation.processMessage("1234");
  expect(counting.conversation.history.estimateTokens()).toBe(5);
});

test("a running turn is in the model's context and not yet in the history", async () => {
  const { conversation, events } = await openConversation({ provider: scripted([beginsAndHangs("Once")]) });
  await conversation.submit("Tell");
  await events.until("agent_message_delta");
  expect(conversation.history.turns).toEqual([]);
  expect(conversation.history.getMessagesForApi()).toEqual([{ type: "user", content: "Tell", attachments: [] }]);
  await expect(conversation.history.clear()).rejects.toMatchObject({ failure: { code: "busy" } });
});

test("clearing empties the model's context and the counts; the rollout keeps everything and can be resumed", async () => {
  const provider = scripted([says("one"), says("two")]);
  const { manager, home, conversation, conversationId } = await openConversation({ provider });
  await conversation.processMessage("1");
  await conversation.history.clear();
  const empty = { turns: [], max_turns: 1_000, total_tokens: 0 };
  expect(asJson(conversation)).toEqual(empty);
  expect(conversation.history.getMessagesForApi()).toEqual([]);
  expect(conversation.history.estimateTokens()).toBe(0);
  await manager.shutdown();
  const { manager: next } = await openManager({ home, providers: [provider] });
  const resumed = await next.resumeConversation(conversationId);
  expect(asJson(resumed)).toEqual(empty);
  await resumed.processMessage("2");
  expect(provider.requests.at(-1)?.input).toEqual([user("2")]);
  expect(resumed.history.total_tokens).toBe(15);
  const lines = await rolloutLines(resumed.rolloutPath);
  const items = lines.filter(({ type }) => type === "response_item").map(({ payload }) => payload);
  expect(items).toEqual([user("1"), assistant("one"), user("2"), assistant("two")]);
});
