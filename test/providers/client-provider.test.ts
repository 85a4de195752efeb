import { expect, test } from "vitest";
import type { ModelEvent } from "../../src/messages/model.js";
import { type ClientRequest, clientProvider, type ModelClient } from "../../src/providers/client-provider.js";
import { assistant, collect, requestOf, user } from "./requests.js";
import { FailureError } from "../../src/messages/failure-error.js";

const live = new AbortController().signal;
const request = requestOf([user("my name is Alice"), assistant("Hello"), user("What's my name?")]);

async function eventsOf(sendMessage: ModelClient["sendMessage"], signal = live): Promise<ModelEvent[]> {
  return collect(clientProvider({ sendMessage }).stream(request, signal));
}

test("the client receives the request and its history as plain text messages", async () => {
  const requests: ClientRequest[] = [];
  await eventsOf(async (got) => {
    requests.push(got);
    return [];
  });
  expect(requests).toEqual([
    {
      ...request,
      messages: [
        { role: "user", content: "my name is Alice" },
        { role: "assistant", content: "Hello" },
        { role: "user", content: "What's my name?" },
      ],
    },
  ]);
});

test("each assistant message becomes one delta and one item, with Codex part types", async () => {
  const answer = [
    { type: "message" as const, role: "assistant" as const, content: [{ type: "text" as const, text: "Alice" }] },
    { type: "message" as const, role: "user" as const, content: [{ type: "text" as const, text: "noted" }] },
  ];
  const events = await eventsOf(async () => answer);
  const ids = events.flatMap((event) => (event.type === "item" ? [event.itemId] : []));
  expect(events).toEqual([
    { type: "text_delta", itemId: ids[0], delta: "Alice" },
    { type: "item", itemId: ids[0], item: assistant("Alice") },
    { type: "item", itemId: ids[1], item: user("noted") },
    { type: "done", finishReason: "stop" },
  ]);
  expect(new Set(ids).size).toBe(2);
  expect(answer[0]?.content).toEqual([{ type: "text", text: "Alice" }]);
});

test("a tool call finishes the answer with tool_calls", async () => {
  const call = { type: "function_call" as const, id: "fc_1", name: "shell", arguments: "{}", call_id: "call_1" };
  expect(await eventsOf(async () => [call])).toEqual([
    { type: "item", itemId: "fc_1", item: call },
    { type: "done", finishReason: "tool_calls" },
  ]);
});

test.each([
  [Object.assign(new Error("slow down"), { status: 429 }), "rate_limit", true],
  [Object.assign(new Error("busy"), { status: 529 }), "overloaded", true],
  [Object.assign(new Error("no such key"), { status: 401 }), "auth", false],
  [Object.assign(new Error("bad field"), { status: 400 }), "invalid_request", false],
  [Object.assign(new Error("too much"), { status: 400, code: "context_length_exceeded" }), "context_overflow", false],
  [Object.assign(new Error("reset"), { code: "ECONNRESET" }), "network", true],
  [new TypeError("fetch failed", { cause: { code: "ENOTFOUND" } }), "network", true],
  [new Error("oops"), "unknown", false],
])("the error %s becomes the failure %s", async (error, code, retryable) => {
  const events = await eventsOf(async () => {
    throw error;
  });
  expect(events).toEqual([{ type: "failed", failure: { code, message: error.message, retryable } }]);
});

test("a FailureError of the client is passed on unchanged", async () => {
  const failure = { code: "rate_limit" as const, message: "wait", retryable: true, retryAfterMs: 5 };
  expect(await eventsOf(() => Promise.reject(new FailureError(failure)))).toEqual([{ type: "failed", failure }]);
});

test("a client that throws synchronously fails like one that rejects", async () => {
  const events = await eventsOf(() => {
    throw new Error("not even a promise");
  });
  expect(events).toEqual([
    { type: "failed", failure: { code: "unknown", message: "not even a promise", retryable: false } },
  ]);
});

test.each([
  ["nothing", "the client did not answer with a list of items"],
  [[{ type: "message", role: "assistant" }], "the client's answer: item 0: content: is missing"],
])("the malformed answer %j fails with a message naming the problem", async (answer, message) => {
  const events = await eventsOf(async () => answer as never);
  expect(events).toEqual([{ type: "failed", failure: { code: "unknown", message, retryable: false } }]);
});

test("an abort ends the stream even if the client never answers", async () => {
  const interrupt = new AbortController();
  const events = await eventsOf(() => {
    interrupt.abort();
    return new Promise(() => undefined);
  }, interrupt.signal);
  expect(events).toEqual([]);
});
