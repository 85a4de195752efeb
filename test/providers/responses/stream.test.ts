import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelRequest } from "../../../src/messages/model.js";
import { openaiResponses } from "../../../src/providers/responses/stream.js";
import { dataOf, serve, streaming } from "../loopback.js";
import { joinDeltas, assistant, collect, requestOf, user } from "../requests.js";
import { ask, connectionTo, faultCases, leakCase } from "../wire-fault-cases.js";

const delta = { type: "response.output_text.delta", item_id: "msg_1", output_index: 1, delta: "Hel" };
const message = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
const helloMessage = { ...message, content: [{ type: "output_text", text: "Hello", annotations: [] }] };
const reasoning = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "Greet" }],
  encrypted_content: "opaque",
  status: null,
};
const call = (n: number) => ({
  type: "function_call",
  id: `fc_${n}`,
  call_id: `call_${n}`,
  name: "shell",
  arguments: `{"n":${n}}`,
  status: "completed",
});
const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 15,
};
const completed = { type: "response.completed", response: { id: "resp_1", status: "completed", usage, output: [] } };
const done = (item: object, output_index: number) => ({ type: "response.output_item.done", output_index, item });

type WireEvent = { type: string } & Record<string, unknown>;

/** The events with their names, as OpenAI sends them. */
function named(...events: readonly WireEvent[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

const added = (item: object, output_index: number) => ({ type: "response.output_item.added", output_index, item });
const openCall = (n: number) => ({ ...call(n), arguments: "", status: "in_progress" });
const argumentsDone = (n: number, output_index: number) => ({
  type: "response.function_call_arguments.done",
  item_id: `fc_${n}`,
  output_index,
  arguments: `{"n":${n}}`,
});
const withoutUsage = { type: "response.completed", response: {} };
const itemsOf = async (...events: readonly WireEvent[]) =>
  (await ask(openaiResponses, streaming(named(...events)))).events.flatMap((event) =>
    event.type === "item" ? [[event.itemId, event.item]] : [],
  );

const recorded = named(
  { type: "response.created" },
  { type: "response.output_item.added" },
  { type: "response.reasoning_summary_part.added", item_id: "rs_1", summary_index: 0 },
  { type: "response.reasoning_summary_text.delta", item_id: "rs_1", delta: "Gre€t" },
  { type: "response.reasoning_summary_part.added", item_id: "rs_1", summary_index: 1 },
  done(reasoning, 0),
  delta,
  { ...delta, delta: "lo 😀" },
  { type: "response.of_the_future", anything: [1] },
  done(helloMessage, 1),
  { type: "response.output_item.added", output_index: 2, item: { ...call(1), status: "in_progress", arguments: "" } },
  { type: "response.function_call_arguments.delta", item_id: "fc_1", delta: '{"n"' },
  { type: "response.function_call_arguments.delta", item_id: "fc_1", delta: ":1}" },
  done(call(1), 2),
  done(call(2), 3),
  { ...completed, response: { ...completed.response, output: [reasoning, helloMessage, call(1), call(2)] } },
);

const origin = { api: "responses", model: "offline" };
const decoded = [
  { type: "reasoning_delta", itemId: "rs_1", delta: "Gre€t" },
  { type: "reasoning_delta", itemId: "rs_1", delta: "\n\n" },
  {
    type: "item",
    itemId: "rs_1",
    item: { type: "reasoning", id: "rs_1", summary: reasoning.summary, encrypted_content: "opaque", origin },
  },
  { type: "text_delta", itemId: "msg_1", delta: "Hel" },
  { type: "text_delta", itemId: "msg_1", delta: "lo 😀" },
  {
    type: "item",
    itemId: "msg_1",
    item: { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "Hello" }] },
  },
  { type: "tool_call_start", itemId: "fc_1", callId: "call_1", name: "shell" },
  { type: "tool_call_delta", itemId: "fc_1", delta: '{"n":1}' },
  ...[1, 2].map((n) => ({
    type: "item",
    itemId: `fc_${n}`,
    item: { type: "function_call", id: `fc_${n}`, call_id: `call_${n}`, name: "shell", arguments: `{"n":${n}}` },
  })),
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

describe("the answer", () => {
  test("text, reasoning and two tool calls are each reported when complete", async () => {
    const { events, server } = await ask(openaiResponses, streaming(recorded));
    expect(joinDeltas(events)).toEqual(joinDeltas(decoded));
    expect(server.requests[0]?.path).toBe("/v1/responses");
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
        const events = await collect(openaiResponses(connectionTo(server), requestOf([user("hi")]), signal));
        expect(joinDeltas(events)).toEqual(joinDeltas(decoded));
      }),
      { numRuns: 40 },
    );
  });

  test("a repeated response.completed is ignored", async () => {
    const { events } = await ask(openaiResponses, streaming(named(delta, done(helloMessage, 0), completed, completed)));
    expect(events.map(({ type }) => type)).toEqual(["text_delta", "item", "usage", "done"]);
  });

  test("an answer stopped by a content filter fails and is not retryable", async () => {
    const response = { ...completed.response, incomplete_details: { reason: "content_filter" } };
    const { events } = await ask(openaiResponses, streaming(named({ type: "response.incomplete", response })));
    const text = "acme: the answer was stopped by a content filter";
    const failure = { code: "content_filtered", message: text, retryable: false };
    expect(events.at(-1)).toEqual({ type: "failed", failure });
    expect(events.at(-2)).toMatchObject({ type: "usage" });
  });

  test("an incomplete answer finishes with length, and its truncated tool call is not reported", async () => {
    const incomplete = { type: "response.incomplete", response: { ...completed.response, status: "incomplete" } };
    const half = { ...call(1), status: "incomplete", arguments: '{"n":' };
    const { events } = await ask(openaiResponses, streaming(named(done(half, 0), incomplete)));
    expect(events.map((event) => (event.type === "done" ? event.finishReason : event.type))).toEqual([
      "usage",
      "length",
    ]);
  });

  test("items without ids get one, and items that only response.completed has are reported", async () => {
    const output = [
      { ...helloMessage, id: undefined },
      { ...call(1), id: undefined },
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q", sources: [] } },
      { type: "local_shell_call", id: "lsh_1", status: "completed", action: { type: "exec", command: ["ls"] } },
      { type: "local_shell_call", id: "lsh_2", status: "in_progress", action: { type: "exec", command: ["ls"] } },
      { type: "file_search_call", id: "fs_1" },
    ];
    const { events } = await ask(
      openaiResponses,
      streaming(named({ ...delta, item_id: undefined, output_index: 0 }, { ...completed, response: { output } })),
    );
    expect(events).toMatchObject([
      { type: "text_delta", itemId: expect.stringMatching(/^item_\w{24}_0$/) },
      { type: "item", itemId: expect.stringMatching(/^item_\w{24}_0$/) },
      { type: "item", itemId: expect.stringMatching(/^item_\w{24}_1$/), item: { call_id: "call_1" } },
      { type: "item", itemId: "ws_1", item: { type: "web_search_call", id: "ws_1", action: { query: "q" } } },
      { type: "item", itemId: "lsh_1", item: { type: "local_shell_call", call_id: "lsh_1", status: "completed" } },
      { type: "usage", usage: { total_tokens: 0 } },
      { type: "done", finishReason: "tool_calls" },
    ]);
  });

  describe("items that no output_item.done reports", () => {
    const hello = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      content: [{ type: "output_text", text: "Hello" }],
    };

    test("text is assembled from its deltas", async () => {
      const last = { ...delta, delta: "lo" };
      expect(await itemsOf(delta, last, completed)).toEqual([["msg_1", hello]]);
      expect(await itemsOf(delta, last, withoutUsage)).toEqual([["msg_1", hello]]);
      expect(await itemsOf(delta, last, { ...completed, type: "response.incomplete" })).toEqual([["msg_1", hello]]);
    });

    test("events without names, ids and indexes are read the same", async () => {
      const bare = [
        { type: delta.type, delta: "Hel" },
        { type: delta.type, delta: "lo" },
      ];
      const { events } = await ask(openaiResponses, streaming(dataOf(...bare, completed)));
      expect(joinDeltas(events)).toMatchObject([
        { type: "text_delta", itemId: expect.stringMatching(/^item_\w{24}_0$/), delta: "Hello" },
        { type: "item", itemId: expect.stringMatching(/^item_\w{24}_0$/), item: { content: hello.content } },
        { type: "usage" },
        { type: "done", finishReason: "stop" },
      ]);
      const { events: reported } = await ask(
        openaiResponses,
        streaming(dataOf(...bare, { ...done(helloMessage, 0), item: { ...helloMessage, id: undefined } }, completed)),
      );
      expect(reported.filter(({ type }) => type === "item")).toHaveLength(1);
    });

    test("reasoning is assembled from its deltas", async () => {
      const part = { item_id: "rs_1", output_index: 0 };
      expect(
        await itemsOf(
          { type: "response.reasoning_summary_text.delta", ...part, summary_index: 0, delta: "Greet" },
          { type: "response.reasoning_summary_part.added", ...part, summary_index: 1 },
          { type: "response.reasoning_summary_text.delta", ...part, summary_index: 1, delta: "them" },
          { type: "response.reasoning_text.delta", ...part, content_index: 0, delta: "In words" },
          delta,
          completed,
        ),
      ).toEqual([
        [
          "rs_1",
          {
            type: "reasoning",
            id: "rs_1",
            summary: [{ type: "summary_text", text: "Greet\n\nthem" }],
            content: [{ type: "reasoning_text", text: "In words" }],
            origin,
          },
        ],
        ["msg_1", { ...hello, content: [{ type: "output_text", text: "Hel" }] }],
      ]);
    });

    test("text missing from response.completed is kept beside its items", async () => {
      const text = { ...delta, output_index: 1 };
      const kinds = async (output: readonly object[]) =>
        (await itemsOf(text, { type: "response.completed", response: { output } })).map(
          ([, item]) => (item as { type: string }).type,
        );
      expect(await kinds([reasoning])).toEqual(["reasoning", "message"]);
      expect(await kinds([reasoning, { ...message, content: [] }])).toEqual(["reasoning", "message"]);
      expect(await kinds([reasoning, helloMessage])).toEqual(["reasoning", "message"]);
    });

    test("each item is reported once although the server invents a new id for every event", async () => {
      const { events } = await ask(
        openaiResponses,
        streaming(
          named(
            { ...added(openCall(1), 0), item: { ...openCall(1), id: "a" } },
            { type: "response.function_call_arguments.delta", item_id: "b", output_index: 0, delta: '{"n":1}' },
            done({ ...call(1), id: "c" }, 0),
            done({ ...helloMessage, id: "d" }, 1),
            {
              type: "response.completed",
              response: {
                output: [
                  { ...call(1), id: "e" },
                  { ...helloMessage, id: "f" },
                ],
              },
            },
          ),
        ),
      );
      expect(events.flatMap((event) => ("itemId" in event ? [`${event.type} ${event.itemId}`] : []))).toEqual([
        "tool_call_start a",
        "tool_call_delta a",
        "item a",
        "item d",
      ]);
    });

    test("a tool call and a text are built from the deltas and done events received", async () => {
      const pieces = ['{"n"', ":1}"].map((piece) => ({
        type: "response.function_call_arguments.delta",
        item_id: "fc_1",
        output_index: 0,
        delta: piece,
      }));
      const text = { type: "response.output_text.done", item_id: "msg_1", output_index: 1, text: "Hello" };
      const { events } = await ask(
        openaiResponses,
        streaming(named(added(openCall(1), 0), ...pieces, text, completed)),
      );
      const ends = events.filter(({ type }) => !type.startsWith("tool_call"));
      expect(ends.map((event) => (event.type === "item" ? event.item : event.type))).toMatchObject([
        "text_delta",
        { type: "function_call", call_id: "call_1", arguments: '{"n":1}' },
        { type: "message", content: [{ text: "Hello" }] },
        "usage",
        "done",
      ]);
    });

    test("a tool call with complete arguments is kept, and one with incomplete arguments fails the answer", async () => {
      const half = { type: "response.function_call_arguments.delta", item_id: "fc_2", output_index: 1, delta: '{"n"' };
      const input = { type: "custom_tool_call", id: "ct_1", call_id: "call_3", name: "apply_patch", input: "" };
      const { events } = await ask(
        openaiResponses,
        streaming(
          named(
            added(openCall(1), 0),
            argumentsDone(1, 0),
            added(openCall(2), 1),
            half,
            added({ ...input, status: "in_progress" }, 2),
            { type: "response.custom_tool_call_input.done", item_id: "ct_1", output_index: 2, input: "*** Begin" },
            completed,
          ),
        ),
      );
      const ends = events.filter(({ type }) => !type.startsWith("tool_call"));
      expect(ends.map((event) => (event.type === "item" ? event.item : event.type))).toMatchObject([
        { type: "function_call", id: "fc_1", call_id: "call_1", name: "shell", arguments: '{"n":1}' },
        { type: "custom_tool_call", call_id: "call_3", name: "apply_patch", input: "*** Begin" },
        "failed",
      ]);
    });

    test("the output of response.completed replaces the deltas, whatever its ids are", async () => {
      const output = [{ ...helloMessage, id: "msg_other", content: [{ type: "output_text", text: "Corrected" }] }];
      const response = { ...completed.response, output };
      expect(await itemsOf({ ...delta, output_index: 0 }, { ...completed, response })).toEqual([
        ["msg_other", { ...hello, id: "msg_other", content: [{ type: "output_text", text: "Corrected" }] }],
      ]);
    });

    test("items already reported are not repeated", async () => {
      const events = [
        delta,
        done(helloMessage, 1),
        added(openCall(1), 2),
        argumentsDone(1, 2),
        done(call(1), 2),
        completed,
      ];
      expect((await itemsOf(...events)).map(([id]) => id)).toEqual(["msg_1", "fc_1"]);
    });

    test("no item is assembled when the answer failed", async () => {
      expect(await itemsOf(delta, { type: "response.failed", response: { error: { message: "no" } } })).toEqual([]);
      expect(await itemsOf(delta)).toEqual([]);
    });
  });

  test.each([
    [{ type: "error", code: "server_error", message: "oops", param: null }, "server", "oops"],
    [{ type: "error", error: { type: "invalid_request_error", code: null, message: "no" } }, "invalid_request", "no"],
    [
      { type: "response.failed", response: { error: { code: "rate_limit_exceeded", message: "slow" } } },
      "rate_limit",
      "slow",
    ],
    [
      { type: "response.failed", response: { error: { code: "context_length_exceeded", message: "big" } } },
      "context_overflow",
      "big",
    ],
  ])("an error event fails the answer, first or later in the stream: %j", async (event, code, text) => {
    const failure = {
      code,
      message: `acme: ${text}`,
      retryable: code !== "invalid_request" && code !== "context_overflow",
    };
    expect((await ask(openaiResponses, streaming(named(event)))).events).toEqual([{ type: "failed", failure }]);
    const late = await ask(openaiResponses, streaming(named(delta, event)));
    expect(late.events.at(-1)).toEqual({ type: "failed", failure });
  });
});

async function sent(request: ModelRequest): Promise<unknown> {
  const { server } = await ask(openaiResponses, streaming(named(completed)), request);
  return JSON.parse(server.requests[0]?.body ?? "");
}

describe("the request", () => {
  test("has every kind of history item in the shape of the API", async () => {
    const input: ModelRequest["input"] = [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "look" },
          { type: "input_image", image_url: "data:image/png;base64,AA==", detail: null },
        ],
      },
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "Hm" }],
        content: null,
        encrypted_content: "opaque",
        origin: { api: "responses", model: "gpt-5" },
      },
      { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "I look" }] },
      { type: "function_call", id: "fc_1", name: "shell", arguments: "{}", call_id: "call_1" },
      { type: "function_call_output", call_id: "call_1", output: "done" },
      { type: "message", id: "offline_1", role: "assistant", content: [{ type: "output_text", text: "There" }] },
      user("thanks"),
    ];
    const request = { ...requestOf(input, ["shell"]), model: "gpt-5", effort: "high" };
    expect(await sent(request)).toEqual({
      model: "gpt-5",
      instructions: "be brief",
      input: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "auto" },
          ],
        },
        {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "Hm" }],
          encrypted_content: "opaque",
        },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look" }] },
        { type: "function_call", name: "shell", arguments: "{}", call_id: "call_1" },
        { type: "function_call_output", call_id: "call_1", output: "done" },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "There" }] },
        { type: "message", role: "user", content: [{ type: "input_text", text: "thanks" }] },
      ],
      tools: [
        {
          type: "function",
          name: "shell",
          description: "shell",
          parameters: { type: "object", properties: {} },
          strict: false,
        },
      ],
      reasoning: { effort: "high", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "conversation",
      store: false,
      stream: true,
    });
  });

  test("limits the answer with max_output_tokens", async () => {
    const body = await sent({ ...requestOf([user("hi")]), model: "gpt-5", effort: "low", maxOutputTokens: 4_096 });
    expect(body).toMatchObject({ max_output_tokens: 4_096, reasoning: { effort: "low" } });
  });

  test("has no reasoning fields for a model without reasoning", async () => {
    const body = await sent({ ...requestOf([user("hi"), assistant("ho"), user("hi")]), model: "gpt-4o" });
    expect(Object.keys(body as object).toSorted()).toEqual(
      ["input", "instructions", "model", "prompt_cache_key", "store", "stream"].toSorted(),
    );
  });
});

describe("faults", () => {
  const half = { type: "response.output_item.added", output_index: 0, item: { ...call(1), arguments: "" } };
  faultCases({ stream: openaiResponses, text: delta, halfCall: half });
  leakCase(openaiResponses, streaming(named(delta, done(helloMessage, 0)), named(completed)));
});
