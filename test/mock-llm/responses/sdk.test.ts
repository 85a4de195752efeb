import OpenAI from "openai";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { expect, test } from "vitest";
import { openMock } from "../../support/open-mock-llm.js";

function clientOf({ url }: { url: string }): OpenAI {
  return new OpenAI({ apiKey: "sk-test", baseURL: `${url}/v1`, maxRetries: 0 });
}

async function eventsOf(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

test("the events have the order of the Responses API and consecutive sequence numbers", async () => {
  const mock = await openMock({ script: [{ text: "Hello big world" }] });
  const stream = await clientOf(mock).responses.create({ model: "gpt-5", input: "hi", stream: true });
  const events = await eventsOf(stream);
  expect(events.map((event) => event.type)).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
  const deltas = events.flatMap((event) => (event.type === "response.output_text.delta" ? [event.delta] : []));
  expect(deltas).toEqual(["Hello ", "big ", "world"]);
});

test("the SDK reads reasoning, text, two parallel calls and usage from the stream", async () => {
  const usage = { input_tokens: 100, cached_input_tokens: 40, output_tokens: 30, reasoning_output_tokens: 10 };
  const calls = [
    { name: "shell", arguments: { command: ["ls"] }, id: "call_a" },
    { name: "read_file", arguments: '{"path":"ä.txt"}', id: "call_b" },
  ];
  const mock = await openMock({ script: [{ reasoning: "Let me think.", text: "I look.", calls, usage }] });
  const stream = clientOf(mock).responses.stream({
    model: "gpt-5",
    input: "hi",
    reasoning: { summary: "auto" },
    include: ["reasoning.encrypted_content"],
    store: false,
  });
  const types = new Set<string>();
  for await (const event of stream) types.add(event.type);
  for (const part of ["summary_part.added", "summary_text.delta", "summary_text.done", "summary_part.done"]) {
    expect(types).toContain(`response.reasoning_${part}`);
  }
  expect(types).toContain("response.function_call_arguments.delta");
  expect(types).toContain("response.function_call_arguments.done");
  const response = await stream.finalResponse();
  expect(response.output).toMatchObject([
    { type: "reasoning", summary: [{ text: "Let me think." }], encrypted_content: expect.stringMatching(/^gAAAAA/) },
    { type: "message", status: "completed", content: [{ type: "output_text", text: "I look." }] },
    { type: "function_call", name: "shell", call_id: "call_a", arguments: '{"command":["ls"]}' },
    { type: "function_call", name: "read_file", call_id: "call_b", arguments: '{"path":"ä.txt"}' },
  ]);
  expect(response.usage).toEqual({
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 40 },
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 10 },
    total_tokens: 130,
  });
});

test("the server accepts its own output items with the outputs of its calls", async () => {
  const reply = { reasoning: "Hm.", calls: [{ name: "shell", arguments: {} }] };
  const mock = await openMock({ script: [reply, { text: "done" }] });
  const client = clientOf(mock);
  const options = {
    model: "gpt-5",
    reasoning: { summary: "auto" },
    include: ["reasoning.encrypted_content"],
    store: false,
  } satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming;
  const first = await client.responses.create({ ...options, input: "go" });
  const call = first.output.find((item) => item.type === "function_call");
  const output = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "ok" };
  const input = [{ role: "user" as const, content: "go" }, ...first.output, output];
  const second = await client.responses.create({ ...options, input: input as OpenAI.Responses.ResponseInput });
  expect(second.output_text).toBe("done");
});

test("a reasoning summary is sent only on request", async () => {
  const mock = await openMock({ script: { replies: [{ reasoning: "Hm.", text: "Yes" }], afterLast: "repeat" } });
  const response = await clientOf(mock).responses.create({ model: "gpt-5", input: "hi" });
  expect(response.output.map((item) => item.type)).toEqual(["message"]);
});

test("an answer cut at its length ends with response.incomplete", async () => {
  const mock = await openMock({ script: [{ text: "Once upon", finish: "length" }] });
  const stream = await clientOf(mock).responses.create({ model: "gpt-5", input: "hi", stream: true });
  expect((await eventsOf(stream)).at(-1)).toMatchObject({
    type: "response.incomplete",
    response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
  });
});

test("without a script the offline model answers and calls the given tools", async () => {
  const mock = await openMock();
  const client = clientOf(mock);
  expect((await client.responses.create({ model: "m", input: "What is 6 * 7?" })).output_text).toBe("6 * 7 = 42");
  const tool = {
    type: "function" as const,
    name: "shell",
    parameters: { type: "object", properties: {} },
    strict: false,
  };
  const response = await client.responses.create({ model: "m", input: "list files", tools: [tool] });
  expect(response.output).toMatchObject([{ type: "function_call", name: "shell" }]);
});

const patch = "*** Begin Patch\n*** Add File: ä.txt\n+new\n*** End Patch";

test("the SDK reads a custom tool call, and its output is accepted", async () => {
  const mock = await openMock({ script: [{ calls: [{ name: "apply_patch", input: patch }] }, { text: "done" }] });
  const client = clientOf(mock);
  const tools = [{ type: "custom" as const, name: "apply_patch", format: { type: "text" as const } }];
  const stream = client.responses.stream({ model: "gpt-5", input: "go", tools });
  const inputs: string[] = [];
  for await (const event of stream) {
    if (event.type === "response.custom_tool_call_input.delta") inputs.push(event.delta);
    if (event.type === "response.custom_tool_call_input.done") inputs.push(event.input);
  }
  expect(inputs.length).toBeGreaterThan(2);
  expect([inputs.slice(0, -1).join(""), inputs.at(-1)]).toEqual([patch, patch]);
  const [call] = (await stream.finalResponse()).output;
  if (call?.type !== "custom_tool_call") throw new Error("no custom call");
  expect(call).toMatchObject({ id: expect.stringMatching(/^ctc_/), name: "apply_patch", input: patch });
  const output = { type: "custom_tool_call_output" as const, call_id: call.call_id, output: "ok" };
  const second = await client.responses.create({
    model: "gpt-5",
    tools,
    input: [{ role: "user", content: "go" }, call, output],
  });
  expect(second.output_text).toBe("done");
});

test("the offline model calls a custom tool with plain text and reads its output", async () => {
  const mock = await openMock();
  const client = clientOf(mock);
  const tools = [{ type: "custom" as const, name: "apply_patch" }];
  const first = await client.responses.create({ model: "gpt-5", input: patch, tools });
  expect(first.output).toMatchObject([{ type: "custom_tool_call", name: "apply_patch", input: patch }]);
  const [call] = first.output;
  if (call?.type !== "custom_tool_call") throw new Error("no custom call");
  const output = { type: "custom_tool_call_output" as const, call_id: call.call_id, output: "Done!" };
  const second = await client.responses.create({
    model: "gpt-5",
    tools,
    input: [{ role: "user", content: patch }, call, output],
  });
  expect(second.output_text).toContain("Done!");
});
