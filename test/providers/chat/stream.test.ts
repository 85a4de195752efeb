import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelRequest } from "../../../src/messages/model.js";
import { openaiChat } from "../../../src/providers/chat/stream.js";
import { dataOf, serve, streaming } from "../loopback.js";
import { joinDeltas, assistant, collect, requestOf, user } from "../requests.js";
import { ask, connectionTo, faultCases, leakCase } from "../wire-fault-cases.js";

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason }],
});
const callDelta = (index: number, fn: object, id?: string) =>
  chunk({ tool_calls: [{ index, function: fn, ...(id === undefined ? {} : { id, type: "function" }) }] });
const usage = {
  prompt_tokens: 10,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens: 5,
  completion_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 15,
};
const recorded = dataOf(
  chunk({ role: "assistant", content: "" }),
  chunk({ reasoning_content: "Gre€t" }),
  chunk({ content: "Hel" }),
  chunk({ content: "lo 😀" }),
  callDelta(0, { name: "shell", arguments: "" }, "call_1"),
  callDelta(0, { arguments: '{"n"' }),
  callDelta(1, { name: "read_file", arguments: '{"path":' }, "call_2"),
  callDelta(0, { arguments: ":1}" }),
  callDelta(1, { arguments: '"a"}' }),
  chunk({}, "tool_calls"),
  { id: "chatcmpl-1", choices: [], usage },
  "[DONE]",
);
const id = expect.stringMatching(/^chat_\w{24}$/) as unknown as string;
const decoded = [
  { type: "reasoning_delta", itemId: expect.stringMatching(/_reasoning$/), delta: "Gre€t" },
  { type: "text_delta", itemId: id, delta: "Hel" },
  { type: "text_delta", itemId: id, delta: "lo 😀" },
  ...[
    { type: "tool_call_start", at: 0, callId: "call_1", name: "shell" },
    { type: "tool_call_delta", at: 0, delta: '{"n"' },
    { type: "tool_call_start", at: 1, callId: "call_2", name: "read_file" },
    { type: "tool_call_delta", at: 1, delta: '{"path":' },
    { type: "tool_call_delta", at: 0, delta: ":1}" },
    { type: "tool_call_delta", at: 1, delta: '"a"}' },
  ].map(({ at, ...event }) => ({
    ...event,
    itemId: expect.stringMatching(new RegExp(`_call_${at}$`)) as unknown as string,
  })),
  {
    type: "item",
    itemId: expect.stringMatching(/_reasoning$/),
    item: {
      type: "reasoning",
      summary: [],
      content: [{ type: "reasoning_text", text: "Gre€t" }],
      origin: { api: "chat", model: "offline" },
    },
  },
  {
    type: "item",
    itemId: id,
    item: { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello 😀" }] },
  },
  {
    type: "item",
    itemId: expect.stringMatching(/_call_0$/),
    item: { type: "function_call", name: "shell", arguments: '{"n":1}', call_id: "call_1" },
  },
  {
    type: "item",
    itemId: expect.stringMatching(/_call_1$/),
    item: { type: "function_call", name: "read_file", arguments: '{"path":"a"}', call_id: "call_2" },
  },
  {
    type: "usage",
    usage: {
      input_tokens: 10,
      cached_input_tokens: 4,
      output_tokens: 5,
      reasoning_output_tokens: 3,
      total_tokens: 15,
    },
  },
  { type: "done", finishReason: "tool_calls" },
];

async function kinds(...events: readonly unknown[]): Promise<unknown[]> {
  const { events: seen } = await ask(openaiChat, streaming(dataOf(...events)));
  return seen.flatMap((event): unknown[] => {
    if (event.type.startsWith("tool_call_") || event.type === "buffered") return [];
    if (event.type === "item") return [event.item];
    return [event.type === "done" ? event.finishReason : event.type];
  });
}

const callOf = (call_id: string, args: string) => ({ type: "function_call", name: "f", arguments: args, call_id });

describe("the answer", () => {
  test("text, reasoning and two tool calls are assembled from their deltas", async () => {
    const { events, server } = await ask(openaiChat, streaming(recorded));
    expect(joinDeltas(events)).toEqual(joinDeltas(decoded));
    expect(server.requests[0]?.path).toBe("/v1/chat/completions");
  });

  test("is the same however the bytes are split", async () => {
    const bytes = Buffer.from(recorded);
    let pieces: Uint8Array[] = [];
    const server = await serve((...args) => streaming(...pieces)(...args));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 8 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        const { signal } = new AbortController();
        const events = await collect(openaiChat(connectionTo(server), requestOf([user("hi")]), signal));
        expect(joinDeltas(events)).toEqual(joinDeltas(decoded));
      }),
      { numRuns: 40 },
    );
  });

  test("a finish_reason and the end of the stream complete the answer, once", async () => {
    expect(await kinds(chunk({ reasoning: "hm" }), chunk({ content: "a" }), chunk({}, "stop"))).toMatchObject([
      "reasoning_delta",
      "text_delta",
      { type: "reasoning" },
      { type: "message" },
      "stop",
    ]);
    const twice = await kinds(chunk({ content: "a" }, "stop"), chunk({}, "stop"), "[DONE]", "[DONE]");
    expect(twice).toMatchObject(["text_delta", { type: "message" }, "stop"]);
  });

  test("[DONE] without a finish_reason is a truncated answer", async () => {
    expect(await kinds(chunk({ content: "a" }), "[DONE]")).toEqual(["text_delta", "failed"]);
  });

  test("only the complete tool calls of an answer cut at its length are reported", async () => {
    const call = { type: "function_call", name: "shell", arguments: "{}", call_id: "call_1" };
    const seen = await kinds(
      callDelta(0, { name: "shell", arguments: "{}" }, "call_1"),
      callDelta(1, { name: "shell", arguments: '{"a' }, "call_2"),
      chunk({}, "length"),
      "[DONE]",
    );
    expect(seen).toEqual([call, "length"]);
  });

  test("an answer stopped by a content filter fails, and its incomplete tool call is not reported", async () => {
    const { events } = await ask(
      openaiChat,
      streaming(
        dataOf(
          chunk({ content: "Once" }),
          callDelta(0, { name: "f", arguments: '{"a' }, "a"),
          chunk({}, "content_filter"),
        ),
      ),
    );
    const message = "acme: the answer was stopped by a content filter";
    expect(events.at(-1)).toEqual({ type: "failed", failure: { code: "content_filtered", message, retryable: false } });
    expect(events.filter(({ type }) => type === "item")).toHaveLength(1);
  });

  test("tool calls of servers that deviate from the API are accepted", async () => {
    const seen = await kinds(
      callDelta(0, { name: "f", arguments: "{}" }, "a"),
      callDelta(0, { name: "f", arguments: '{"same":"index"}' }, "b"),
      chunk({ tool_calls: [{ id: "c", function: { name: "f", arguments: { an: "object" } } }] }),
      chunk({ tool_calls: [{ index: 7, function: { name: "f" } }] }),
      chunk({ tool_calls: [{ index: 8, id: "d", function: { arguments: "{}" } }] }),
      chunk({}, "stop"),
    );
    expect(seen).toEqual([
      callOf("a", "{}"),
      callOf("b", '{"same":"index"}'),
      callOf("c", '{"an":"object"}'),
      callOf(expect.stringMatching(/^call_chat_\w+_3$/) as unknown as string, "{}"),
      "tool_calls",
    ]);
  });

  test.each([
    [{ error: { message: "gone", code: 502 } }, "server", "acme answered 502: gone"],
    [{ error: { message: "no", type: "invalid_request_error" } }, "invalid_request", "acme: no"],
    [{ choices: [{ delta: {}, finish_reason: "error", error: { message: "x", code: 429 } }] }, "rate_limit", ""],
  ])("an error event fails the answer, first or later in the stream: %j", async (event, code, message) => {
    const failure = { code, message: message || "acme answered 429: x", retryable: code !== "invalid_request" };
    expect((await ask(openaiChat, streaming(dataOf(event)))).events).toEqual([{ type: "failed", failure }]);
    const late = await ask(openaiChat, streaming(dataOf(chunk({ content: "a" }), event)));
    expect(late.events.at(-1)).toEqual({ type: "failed", failure });
  });
});

async function sent(request: ModelRequest): Promise<unknown> {
  const { server } = await ask(openaiChat, streaming(dataOf(chunk({}, "stop"))), request);
  return JSON.parse(server.requests[0]?.body ?? "");
}

const call = (n: number) => ({ type: "function_call", name: "shell", arguments: "{}", call_id: `call_${n}` }) as const;
const toolCall = (n: number) => ({
  id: `call_${n}`,
  type: "function",
  function: { name: "shell", arguments: "{}" },
});

describe("the request", () => {
  test("has every kind of history item in the shape of the API", async () => {
    const input: ModelRequest["input"] = [
      { type: "message", role: "developer", content: [{ type: "input_text", text: "rules" }] },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "look" },
          { type: "input_image", image_url: "data:image/png;base64,AA==", detail: null },
        ],
      },
      { type: "reasoning", summary: [], encrypted_content: "x", origin: { api: "chat", model: "offline" } },
      assistant("I look"),
      call(1),
      call(2),
      { type: "function_call_output", call_id: "call_1", output: "one" },
      { type: "function_call_output", call_id: "call_2", output: [{ type: "input_text", text: "two" }] },
      call(3),
      { type: "function_call_output", call_id: "call_3", output: "three" },
      user("thanks"),
    ];
    expect(await sent({ ...requestOf(input, ["shell"]), effort: "low" })).toEqual({
      model: "offline",
      messages: [
        { role: "system", content: "be brief" },
        { role: "system", content: "rules" },
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
          ],
        },
        { role: "assistant", content: "I look", tool_calls: [toolCall(1), toolCall(2)] },
        { role: "tool", tool_call_id: "call_1", content: "one" },
        { role: "tool", tool_call_id: "call_2", content: "two" },
        { role: "assistant", content: null, tool_calls: [toolCall(3)] },
        { role: "tool", tool_call_id: "call_3", content: "three" },
        { role: "user", content: "thanks" },
      ],
      tools: [
        {
          type: "function",
          function: { name: "shell", description: "shell", parameters: { type: "object", properties: {} } },
        },
      ],
      reasoning_effort: "low",
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test.each([
    ["gpt-5", "max_completion_tokens"],
    ["openai/gpt-4o", "max_completion_tokens"],
    ["ft:gpt-4o-mini:acme", "max_completion_tokens"],
    ["o3", "max_completion_tokens"],
    ["gpt-oss:20b", "max_tokens"],
    ["qwen3:8b", "max_tokens"],
    ["olmo2", "max_tokens"],
  ])("for %s limits the answer with %s", async (model, name) => {
    const body = await sent({ ...requestOf([user("hi")]), model, maxOutputTokens: 4_096 });
    expect(Object.entries(body as object).filter(([key]) => key.startsWith("max_"))).toEqual([[name, 4_096]]);
  });
});

describe("faults", () => {
  const half = callDelta(0, { name: "shell", arguments: '{"a' }, "call_1");
  faultCases({ stream: openaiChat, text: chunk({ content: "Hel" }), halfCall: half });
  leakCase(openaiChat, streaming(dataOf(chunk({ content: "a" }), chunk({}, "stop")), dataOf("[DONE]")));
});
