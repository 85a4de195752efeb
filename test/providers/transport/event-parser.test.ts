import * as fc from "fast-check";
import { expect, test } from "vitest";
import { EventParser } from "../../../src/providers/transport/event-parser.js";
import { eventJson } from "../../../src/providers/transport/event-json.js";

const shapes: Readonly<Record<string, (text: string, count: number) => object>> = {
  responses: (delta, sequence_number) => ({
    type: "response.output_text.delta",
    item_id: "msg_1",
    output_index: 0,
    logprobs: [],
    delta,
    sequence_number,
  }),
  "responses as OpenAI sends them": (delta, sequence_number) => ({
    type: "response.output_text.delta",
    sequence_number,
    item_id: "msg_1",
    delta,
    obfuscation: "x".repeat(sequence_number % 7),
  }),
  chat: (content) => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
  }),
  messages: (text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
  thoughts: (thinking) => ({ type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking } }),
  "two of a name": (text) => ({ type: "a.delta", delta: text, part: { delta: text } }),
  "an item": (text) => ({ type: "item", item: { content: [{ text }] } }),
};

const words = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.constantFrom(
    "delta",
    '"',
    "\\",
    '","delta":"',
    "\n",
    "\u2028",
    "__proto__",
    "",
    "a text of more than twelve letters",
  ),
);

test.each(Object.entries(shapes))("events of the shape %s are read as JSON.parse reads them", (_, shape) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(words, fc.nat())), fc.constantFrom(0, 1), (events, indent) => {
      const parser = new EventParser();
      for (const [text, count] of events) {
        const data = JSON.stringify(shape(text, count), undefined, indent).replaceAll("\n", "");
        expect(parser.read(data)).toEqual(JSON.parse(data));
      }
    }),
  );
});

test("events of mixed shapes are read as JSON.parse reads them", () => {
  const event = fc.tuple(fc.constantFrom(...Object.values(shapes)), words, fc.nat());
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const parser = new EventParser();
      for (const [shape, text, count] of events) {
        const data = JSON.stringify(shape(text, count));
        expect(parser.read(data)).toEqual(JSON.parse(data));
      }
    }),
  );
});

test("a corrupted event is read or rejected as eventJson does", () => {
  const first = JSON.stringify(shapes["responses"]?.("word", 4));
  const piece = fc.constantFrom('"', "\\", "{", "}", ",", ":", " ", "0", "1", "-", ".", "e", "x", "\t", "");
  fc.assert(
    fc.property(fc.nat(first.length), fc.nat(2), piece, (at, removed, inserted) => {
      const parser = new EventParser();
      parser.read(first);
      const data = first.slice(0, at) + inserted + first.slice(at + removed);
      expect(outcomeOf(() => parser.read(data))).toEqual(outcomeOf(() => eventJson(data)));
    }),
    { numRuns: 2_000 },
  );
});

test("an event that is not a delta is not changed by reading the next one", () => {
  const parser = new EventParser();
  const [one, two] = ["one", "two"].map((text) => JSON.stringify(shapes["an item"]?.(text, 0)));
  const given = [one, two].map((data) => parser.read(data ?? ""));
  expect(given).toEqual([JSON.parse(one ?? ""), JSON.parse(two ?? "")]);
});

function outcomeOf(work: () => unknown): unknown {
  try {
    return structuredClone(work());
  } catch (error) {
    return String(error);
  }
}
