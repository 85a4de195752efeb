import OpenAI from "openai";
import { expect, test } from "vitest";
import { dataOf, hello, openMock, post } from "../../support/open-mock-llm.js";

function clientOf({ url }: { url: string }): OpenAI {
  return new OpenAI({ apiKey: "sk-test", baseURL: `${url}/v1`, maxRetries: 0 });
}
const messages = [{ role: "user" as const, content: "hi" }];

test("the SDK reads text, two parallel calls and usage from the stream", async () => {
  const usage = { input_tokens: 100, cached_input_tokens: 40, output_tokens: 30, reasoning_output_tokens: 10 };
  const calls = [
    { name: "shell", arguments: { command: ["ls"] }, id: "call_a" },
    { name: "read_file", arguments: '{"path":"ä.txt"}', id: "call_b" },
  ];
  const mock = await openMock({ script: [{ text: "I look.", calls, usage }] });
  const stream = clientOf(mock).chat.completions.stream({
    model: "gpt-4o",
    messages,
    stream_options: { include_usage: true },
  });
  const completion = await stream.finalChatCompletion();
  expect(completion.choices).toMatchObject([
    {
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: "I look.",
        tool_calls: [
          { id: "call_a", type: "function", function: { name: "shell", arguments: '{"command":["ls"]}' } },
          { id: "call_b", type: "function", function: { name: "read_file", arguments: '{"path":"ä.txt"}' } },
        ],
      },
    },
  ]);
  expect(completion.usage).toMatchObject({
    prompt_tokens: 100,
    completion_tokens: 30,
    total_tokens: 130,
    prompt_tokens_details: { cached_tokens: 40 },
    completion_tokens_details: { reasoning_tokens: 10 },
  });
});

test("a stream has role, content, finish_reason and [DONE], and usage only on request", async () => {
  const mock = await openMock({ script: [{ text: "Hello world" }] });
  const events = dataOf(await (await post(mock, "chat", { ...hello("chat"), stream: true })).text());
  expect(
    events.map((event) => (typeof event === "string" ? event : (event as { choices: unknown[] }).choices[0])),
  ).toEqual([
    { index: 0, delta: { role: "assistant", content: "", refusal: null }, logprobs: null, finish_reason: null },
    { index: 0, delta: { content: "Hello " }, logprobs: null, finish_reason: null },
    { index: 0, delta: { content: "world" }, logprobs: null, finish_reason: null },
    { index: 0, delta: {}, logprobs: null, finish_reason: "stop" },
    "[DONE]",
  ]);
  expect(events.every((event) => typeof event === "string" || !("usage" in (event as object)))).toBe(true);
});

test("a completion without a stream has reasoning_content like compatible servers", async () => {
  const mock = await openMock({ script: [{ reasoning: "Hm.", text: "Yes", finish: "length" }] });
  const completion = await clientOf(mock).chat.completions.create({ model: "gpt-4o", messages });
  expect(completion.choices).toMatchObject([
    { finish_reason: "length", message: { content: "Yes", reasoning_content: "Hm." } },
  ]);
});

test("the offline model reads tool messages", async () => {
  const mock = await openMock();
  const call = { id: "c1", type: "function" as const, function: { name: "shell", arguments: "{}" } };
  const completion = await clientOf(mock).chat.completions.create({
    model: "m",
    messages: [
      ...messages,
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "a.txt" },
    ],
  });
  expect(completion.choices[0]?.message.content).toBe("The tool answered:\na.txt");
});
