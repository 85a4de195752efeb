import { expect, test } from "vitest";
import type { ModelEvent } from "../../src/messages/model.js";
import { EventBuffer } from "../../src/providers/wire-answer.js";

function text(itemId: string, delta: string): ModelEvent {
  return { type: "text_delta", itemId, delta };
}

function reasoning(itemId: string, delta: string): ModelEvent {
  return { type: "reasoning_delta", itemId, delta };
}

const done: ModelEvent = { type: "done", finishReason: "stop" };

function drain(buffer: EventBuffer): ModelEvent[] {
  const events: ModelEvent[] = [];
  for (let event = buffer.take(); event !== undefined; event = buffer.take()) events.push(event);
  return events;
}

test("consecutive deltas of one item are merged, and order is kept", () => {
  const buffer = new EventBuffer();
  for (const event of [reasoning("a", "1"), text("b", "2"), text("b", "3"), text("c", "4"), text("c", "5"), done]) {
    buffer.add(event);
  }
  expect(drain(buffer)).toEqual([reasoning("a", "1"), text("b", "23"), text("c", "45"), done]);
  expect(buffer.isEmpty).toBe(true);
});

test("a delta that was taken is not merged into later deltas", () => {
  const buffer = new EventBuffer();
  buffer.add(text("a", "1"));
  buffer.add(text("a", "2"));
  expect(buffer.take()).toEqual(text("a", "12"));
  buffer.add(text("a", "3"));
  expect(drain(buffer)).toEqual([text("a", "3")]);
  buffer.add(text("a", "4"));
  expect(drain(buffer)).toEqual([text("a", "4")]);
});

test("clear drops every buffered event", () => {
  const buffer = new EventBuffer();
  buffer.add(text("a", "1"));
  buffer.clear();
  expect(buffer.isEmpty).toBe(true);
  buffer.add(text("a", "2"));
  expect(drain(buffer)).toEqual([text("a", "2")]);
});
