import { expect, test } from "vitest";
import { ModelEvent } from "../../../src/messages/model.js";
import { offlineProvider } from "../../../src/providers/offline/provider.js";
import { assistant, collect, requestOf, user } from "../requests.js";

const countTokens = (text: string) => text.length;
const provider = offlineProvider({ countTokens });
const live = new AbortController().signal;

test("an answer streams word by word and ends with one message, usage and done", async () => {
  const events = await collect(provider.stream(requestOf([user("What's 2+2?")]), live));
  const itemId = events[0]?.type === "text_delta" ? events[0].itemId : "";
  expect(itemId).toMatch(/^offline_[0-9a-f]{24}$/);
  expect(events).toEqual([
    { type: "text_delta", itemId, delta: "2+2 " },
    { type: "text_delta", itemId, delta: "= " },
    { type: "text_delta", itemId, delta: "4" },
    { type: "item", itemId, item: assistant("2+2 = 4") },
    {
      type: "usage",
      usage: {
        input_tokens: "be brief\nWhat's 2+2?".length,
        cached_input_tokens: 0,
        output_tokens: "2+2 = 4".length,
        reasoning_output_tokens: 0,
        total_tokens: "be brief\nWhat's 2+2?2+2 = 4".length,
      },
    },
    { type: "done", finishReason: "stop" },
  ]);
  expect(events.map((event) => ModelEvent.parse(event))).toEqual(events);
});

test("a tool call is one item, and the answer finishes with tool_calls", async () => {
  const events = await collect(provider.stream(requestOf([user("read README.md")], ["read_file"]), live));
  const itemId = events[0]?.type === "item" ? events[0].itemId : "";
  expect(events).toEqual([
    {
      type: "item",
      itemId,
      item: { type: "function_call", name: "read_file", arguments: '{"path":"README.md"}', call_id: itemId },
    },
    expect.objectContaining({ type: "usage" }),
    { type: "done", finishReason: "tool_calls" },
  ]);
});

test("the same request gets the same events, and a later request other ids", async () => {
  const first = [user("list files")];
  const once = await collect(provider.stream(requestOf(first, ["shell"]), live));
  expect(await collect(provider.stream(requestOf(first, ["shell"]), live))).toEqual(once);
  const call = once.find((event) => event.type === "item");
  const next = [...first, ...(call ? [call.item] : []), user("list files")];
  const second = await collect(provider.stream(requestOf(next, ["shell"]), live));
  expect(second[0]).not.toEqual(once[0]);
});

test("an answer of 150,000 words is complete, in a bounded number of deltas", async () => {
  const output = "word  \n".repeat(150_000) + "end";
  const input = [user("run x"), { type: "function_call_output" as const, call_id: "1", output }];
  const deltas = (await collect(provider.stream(requestOf(input), live))).filter(
    (event) => event.type === "text_delta",
  );
  expect(deltas.map((event) => event.delta).join("")).toBe(`The tool answered:\n${output}`);
  expect(deltas.length).toBeLessThanOrEqual(2_001);
});

test("an aborted answer ends at once without item and done, although its pause never ends", async () => {
  const interrupt = new AbortController();
  const pauses: AbortSignal[] = [];
  const slow = offlineProvider({
    countTokens,
    pause: (signal) => {
      pauses.push(signal);
      if (pauses.length === 3) interrupt.abort();
      return pauses.length === 3 ? new Promise(() => undefined) : Promise.resolve();
    },
  });
  const events = await collect(slow.stream(requestOf([user("hello")]), interrupt.signal));
  expect(events.map((event) => event.type)).toEqual(["text_delta", "text_delta", "text_delta"]);
  expect(pauses).toEqual([interrupt.signal, interrupt.signal, interrupt.signal]);
});

test("a request aborted before it starts gets no events", async () => {
  expect(await collect(provider.stream(requestOf([user("hello")]), AbortSignal.abort()))).toEqual([]);
});

test("a pause that fails does not fail the answer", async () => {
  const broken = offlineProvider({ countTokens, pause: () => Promise.reject(new Error("no clock")) });
  const events = await collect(broken.stream(requestOf([user("What's 2+2?")]), live));
  expect(events.at(-1)).toEqual({ type: "done", finishReason: "stop" });
});

test("a long answer yields to the event loop", async () => {
  let others = 0;
  const tick = setInterval(() => (others += 1), 0);
  const input = [user("run x"), { type: "function_call_output" as const, call_id: "1", output: "a ".repeat(100_000) }];
  await collect(provider.stream(requestOf(input), live));
  clearInterval(tick);
  expect(others).toBeGreaterThan(0);
});
