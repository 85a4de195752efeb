import { expect, test } from "vitest";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import type { RolloutLine } from "../../../src/messages/rollout-line.js";
import { removedItems, applyToHistory } from "../../../src/rollouts/file/history.js";
import { assistant, user } from "../../support/scripted-provider.js";

const timestamp = "2026-11-16T00:00:00.000Z";
const summary: ResponseItem = {
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: "what happened" }],
  summary: true,
};

test("what a compaction dropped comes in order, with its turn; what it kept and what came later does not", async () => {
  const lines = [
    item(user("<environment_context>\n  <cwd>/</cwd>\n</environment_context>")),
    item(user("one")),
    item(assistant("first answer")),
    item(user("two")),
    item(assistant("second answer")),
    compacted([user("two"), summary]),
    item(user("three")),
    item(assistant("third answer")),
  ];
  expect(await away(lines)).toEqual([
    { item: user("<environment_context>\n  <cwd>/</cwd>\n</environment_context>"), turn: 0 },
    { item: user("one"), turn: 1 },
    { item: assistant("first answer"), turn: 1 },
    { item: assistant("second answer"), turn: 2 },
  ]);
});

test("what several compactions dropped comes too, and no summary", async () => {
  const lines = [
    item(user("one")),
    compacted([summary]),
    item(user("two")),
    compacted([{ ...summary, content: [{ type: "input_text", text: "all of it" }] }]),
  ];
  expect(await away(lines)).toEqual([
    { item: user("one"), turn: 1 },
    { item: user("two"), turn: 2 },
  ]);
});

test("a compaction that was undone has dropped nothing", async () => {
  const lines = [item(user("one")), compacted([summary]), compacted([user("one")]), item(user("two"))];
  expect(await away(lines)).toEqual([]);
});

test("what the user took back stays taken back", async () => {
  const lines: RolloutLine[] = [
    item(user("one")),
    item(user("a secret")),
    item(assistant("I see")),
    { timestamp, type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 1 } },
    compacted([summary]),
  ];
  expect(await away(lines)).toEqual([{ item: user("one"), turn: 1 }]);
});

test("what the history has only a part of comes whole", async () => {
  const long = `begin ${"x".repeat(100)} end`;
  const output: ResponseItem = { type: "function_call_output", call_id: "c1", output: long };
  const lines = [item(output), compacted([{ ...output, output: "begin […] end" }, summary])];
  expect(await away(lines)).toEqual([{ item: output, turn: 0 }]);
});

test("what has no words is not among it", async () => {
  const image: ResponseItem = {
    type: "message",
    role: "user",
    content: [{ type: "input_image", image_url: "data:image/png;base64,AA" }],
  };
  const reasoning: ResponseItem = { type: "reasoning", summary: [], encrypted_content: "opaque" };
  expect(await away([item(image), item(reasoning), compacted([summary])])).toEqual([]);
});

function item(payload: ResponseItem): RolloutLine {
  return { timestamp, type: "response_item", payload };
}

function compacted(replacement: ResponseItem[]): RolloutLine {
  return { timestamp, type: "compacted", payload: { message: "", replacement_history: replacement } };
}

async function away(lines: readonly RolloutLine[]): Promise<unknown[]> {
  const history: ResponseItem[] = [];
  for (const line of lines) applyToHistory(history, line);
  // As they come from a file, and not as the same objects.
  const read = lines.map((line) => structuredClone(line));
  const items: unknown[] = [];
  for await (const earlier of removedItems(asyncly([read]), history)) items.push(earlier);
  return items;
}

async function* asyncly<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
}
