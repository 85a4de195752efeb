import Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { dataOf, hello, openMock, post } from "../../support/open-mock-llm.js";

function clientOf({ url }: { url: string }): Anthropic {
  return new Anthropic({ apiKey: "sk-ant-test", baseURL: url, maxRetries: 0 });
}
const request = { model: "claude-mock", max_tokens: 4_096, messages: [{ role: "user" as const, content: "hi" }] };
const thinking = { type: "enabled" as const, budget_tokens: 1_024 };

test("the SDK reads thinking, text, two parallel calls and usage from the stream", async () => {
  const usage = { input_tokens: 100, cached_input_tokens: 40, output_tokens: 30 };
  const calls = [
    { name: "shell", arguments: { command: ["ls"] }, id: "toolu_a" },
    { name: "read_file", arguments: '{"path":"ä.txt"}', id: "toolu_b" },
  ];
  const mock = await openMock({ script: [{ reasoning: "Let me think.", text: "I look.", calls, usage }] });
  const message = await clientOf(mock)
    .messages.stream({ ...request, thinking })
    .finalMessage();
  expect(message.stop_reason).toBe("tool_use");
  expect(message.content).toMatchObject([
    { type: "thinking", thinking: "Let me think.", signature: expect.stringMatching(/^Eo/) },
    { type: "text", text: "I look." },
    { type: "tool_use", id: "toolu_a", name: "shell", input: { command: ["ls"] } },
    { type: "tool_use", id: "toolu_b", name: "read_file", input: { path: "ä.txt" } },
  ]);
  expect(message.usage).toMatchObject({ input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 30 });
});

test("the events have the order of the Messages API", async () => {
  const mock = await openMock({ script: [{ text: "Hello world" }] });
  const text = await (await post(mock, "messages", { ...hello("messages"), stream: true })).text();
  const events = dataOf(text) as { type: string }[];
  const types = events.map((event) => event.type);
  expect(types).toEqual([
    "message_start",
    "content_block_start",
    "ping",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  expect(text.match(/^event: (.*)$/gm)).toEqual(types.map((type) => `event: ${type}`));
});

test("the server accepts its own thinking with the results of its calls", async () => {
  const reply = { reasoning: "Hm.", calls: [{ name: "shell", arguments: {} }] };
  const mock = await openMock({ script: [reply, { text: "done" }] });
  const client = clientOf(mock);
  const tools = [{ name: "shell", input_schema: { type: "object" as const } }];
  const first = await client.messages.create({ ...request, thinking, tools });
  const use = first.content.find((block) => block.type === "tool_use");
  const result = { type: "tool_result" as const, tool_use_id: use?.id ?? "", content: "ok" };
  const second = await client.messages.create({
    ...request,
    thinking,
    tools,
    messages: [
      ...request.messages,
      { role: "assistant", content: first.content as Anthropic.ContentBlockParam[] },
      { role: "user", content: [result] },
    ],
  });
  expect(second.content).toMatchObject([{ type: "text", text: "done" }]);
});

test("thinking is sent only on request", async () => {
  const mock = await openMock({ script: [{ reasoning: "Hm.", text: "Yes", finish: "length" }] });
  const message = await clientOf(mock).messages.create(request);
  expect(message).toMatchObject({ content: [{ type: "text", text: "Yes" }], stop_reason: "max_tokens" });
});

type Blocks = Anthropic.ContentBlockParam[];
const changed =
  "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.";

test.each<[string, string | undefined, (thoughts: Blocks) => Blocks]>([
  ["unchanged", undefined, (thoughts) => thoughts],
  ["without the redacted block", changed, (thoughts) => thoughts.slice(0, 1)],
  ["without the readable block", changed, (thoughts) => thoughts.slice(1)],
  ["in reverse order", changed, (thoughts) => thoughts.toReversed()],
  ["twice", changed, (thoughts) => [...thoughts, ...thoughts.slice(1)]],
  [
    "with other data",
    "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
    () => [{ type: "redacted_thinking", data: "EmwKSG0u.abc" }],
  ],
  ["not at all", expect.stringContaining("Expected `thinking` or `redacted_thinking`"), () => []],
])("thinking blocks before a tool call that are sent back %s", async (_, refusal, back) => {
  const reply = { reasoning: "Hm.", redacted: "Not for you.", calls: [{ name: "shell", arguments: {} }] };
  const mock = await openMock({ script: [reply, { text: "done" }] });
  const client = clientOf(mock);
  const tools = [{ name: "shell", input_schema: { type: "object" as const } }];
  const first = await client.messages.stream({ ...request, thinking, tools }).finalMessage();
  const content = first.content as Blocks;
  expect(content.map(({ type }) => type)).toEqual(["thinking", "redacted_thinking", "tool_use"]);
  const use = first.content.find((block) => block.type === "tool_use");
  const result = { type: "tool_result" as const, tool_use_id: use?.id ?? "", content: "ok" };
  const answer = { role: "assistant" as const, content: [...back(content.slice(0, 2)), ...content.slice(2)] };
  const messages = [...request.messages, answer, { role: "user" as const, content: [result] }];
  await client.messages.create({ ...request, thinking, tools, messages }).catch(() => undefined);
  expect(mock.requests[1]).toMatchObject(refusal === undefined ? { status: 200 } : { status: 400, refusal });
});
