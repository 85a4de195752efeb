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

function taken(said: EventBuffer): ModelEvent[] {
  const events: ModelEvent[] = [];
  for (let event = said.take(); event !== undefined; event = said.take()) events.push(event);
  return events;
}

test("deltas of one item in a row are one, in the order they came", () => {
  const said = new EventBuffer();
  for (const event of [reasoning("a", "1"), text("b", "2"), text("b", "3"), text("c", "4"), text("c", "5"), done]) {
    said.add(event);
  }
  expect(taken(said)).toEqual([reasoning("a", "1"), text("b", "23"), text("c", "45"), done]);
  expect(said.isEmpty).toBe(true);
});

test("what was told is not told again with what comes later", () => {
  const said = new EventBuffer();
  said.add(text("a", "1"));
  said.add(text("a", "2"));
  expect(said.take()).toEqual(text("a", "12"));
  said.add(text("a", "3"));
  expect(taken(said)).toEqual([text("a", "3")]);
  said.add(text("a", "4"));
  expect(taken(said)).toEqual([text("a", "4")]);
});

test("nothing is left after it was cleared", () => {
  const said = new EventBuffer();
  said.add(text("a", "1"));
  said.clear();
  expect(said.isEmpty).toBe(true);
  said.add(text("a", "2"));
  expect(taken(said)).toEqual([text("a", "2")]);
});
