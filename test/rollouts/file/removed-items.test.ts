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

test("removed items are returned in order with their turn, without kept and later items", async () => {
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
  expect(await removed(lines)).toEqual([
    { item: user("<environment_context>\n  <cwd>/</cwd>\n</environment_context>"), turn: 0 },
    { item: user("one"), turn: 1 },
    { item: assistant("first answer"), turn: 1 },
    { item: assistant("second answer"), turn: 2 },
  ]);
});

test("items removed by several compactions are returned, without summaries", async () => {
  const lines = [
    item(user("one")),
    compacted([summary]),
    item(user("two")),
    compacted([{ ...summary, content: [{ type: "input_text", text: "all of it" }] }]),
  ];
  expect(await removed(lines)).toEqual([
    { item: user("one"), turn: 1 },
    { item: user("two"), turn: 2 },
  ]);
});

test("an undone compaction removed nothing", async () => {
  const lines = [item(user("one")), compacted([summary]), compacted([user("one")]), item(user("two"))];
  expect(await removed(lines)).toEqual([]);
});

test("rolled-back items are not returned", async () => {
  const lines: RolloutLine[] = [
    item(user("one")),
    item(user("a secret")),
    item(assistant("I see")),
    { timestamp, type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 1 } },
    compacted([summary]),
  ];
  expect(await removed(lines)).toEqual([{ item: user("one"), turn: 1 }]);
});

test("an item the compaction truncated is returned completely", async () => {
  const long = `begin ${"x".repeat(100)} end`;
  const output: ResponseItem = { type: "function_call_output", call_id: "c1", output: long };
  const lines = [item(output), compacted([{ ...output, output: "begin […] end" }, summary])];
  expect(await removed(lines)).toEqual([{ item: output, turn: 0 }]);
});

test("items without text are not returned", async () => {
  const image: ResponseItem = {
    type: "message",
    role: "user",
    content: [{ type: "input_image", image_url: "data:image/png;base64,AA" }],
  };
  const reasoning: ResponseItem = { type: "reasoning", summary: [], encrypted_content: "opaque" };
  expect(await removed([item(image), item(reasoning), compacted([summary])])).toEqual([]);
});

function item(payload: ResponseItem): RolloutLine {
  return { timestamp, type: "response_item", payload };
}

function compacted(replacement: ResponseItem[]): RolloutLine {
  return { timestamp, type: "compacted", payload: { message: "", replacement_history: replacement } };
}

async function removed(lines: readonly RolloutLine[]): Promise<unknown[]> {
  const history: ResponseItem[] = [];
  for (const line of lines) applyToHistory(history, line);
  // Goes through JSON, because lines from a file share no objects.
  const read = lines.map((line) => structuredClone(line));
  const items: unknown[] = [];
  for await (const earlier of removedItems(asyncly([read]), history)) items.push(earlier);
  return items;
}

async function* asyncly<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
}
