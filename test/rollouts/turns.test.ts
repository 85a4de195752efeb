import { expect, test } from "vitest";
import type { ResponseItem } from "../../src/messages/response-item.js";
import type { OwnLine } from "../../src/messages/rollout-line.js";
import { linesOfTurn, TurnGrouping, type RolloutTurn } from "../../src/rollouts/turns.js";

const at = Date.parse("2026-11-16T00:00:00.000Z");
const timestamp = new Date(at).toISOString();

function message(role: "user" | "assistant", text: string): ResponseItem {
  return { type: "message", role, content: [{ type: role === "user" ? "input_text" : "output_text", text }] };
}

function item(payload: ResponseItem): OwnLine {
  return { timestamp, type: "response_item", payload };
}

function turnsOf(lines: readonly OwnLine[]): RolloutTurn[] {
  const grouping = new TurnGrouping();
  for (const line of lines) grouping.add(line);
  return grouping.turns;
}

function meta(metadata?: unknown): OwnLine {
  const payload = { id: "1", timestamp, cwd: "/", originator: "cody", cli_version: "1", source: "cli" };
  return { timestamp, type: "session_meta", metadata, payload };
}

const tools: ResponseItem[] = [
  { type: "function_call", name: "shell", arguments: "{}", call_id: "1" },
  { type: "function_call_output", call_id: "1", output: "done" },
];

test("a turn is read back as it was written", () => {
  const turns: RolloutTurn[] = [
    {
      timestamp: at,
      items: [message("user", "hi"), ...tools, message("assistant", "hello")],
      metadata: { provider: "openai", model: "gpt-4o", tokens: 12 },
    },
    { timestamp: at + 1, items: [message("user", "again"), message("assistant", "yes")] },
  ];
  expect(turnsOf(turns.flatMap((turn) => linesOfTurn(turn, 0)))).toEqual(turns);
});

test("timestamps in seconds become milliseconds", () => {
  const [turn] = turnsOf(linesOfTurn({ timestamp: at / 1000, items: [message("user", "hi")] }, 0));
  expect(turn?.timestamp).toBe(at);
});

test("the first turn gets the provider and model of the first line", () => {
  const lines = [meta({ provider: "p", model: "m", format: 1 }), item(message("user", "hi"))];
  expect(turnsOf(lines)).toEqual([
    { timestamp: at, items: [message("user", "hi")], metadata: { provider: "p", model: "m" } },
  ]);
});

test("without start and end events a turn begins with a user message after an answer", () => {
  const context = message("user", "<environment_context>x</environment_context>");
  const lines = [context, message("user", "one"), ...tools, message("assistant", "1"), message("user", "two")].map(
    item,
  );
  expect(turnsOf(lines).map((turn) => turn.items.length)).toEqual([5, 1]);
});

test("a user message during a turn belongs to that turn", () => {
  const started: OwnLine = { timestamp, type: "event_msg", payload: { type: "task_started", turn_id: "1" } };
  const lines = [started, ...[message("user", "one"), message("assistant", "1"), message("user", "also")].map(item)];
  expect(turnsOf(lines)).toHaveLength(1);
});

test("after a compaction the turns contain the remaining items", () => {
  const one = linesOfTurn({ timestamp: at, items: [message("user", "one"), message("assistant", "1")] }, 0);
  const compacted: OwnLine = { timestamp, type: "compacted", payload: { message: "summary" } };
  const two = linesOfTurn({ timestamp: at, items: [message("user", "two")] }, 0);
  expect(turnsOf([...one, compacted, ...two]).map((turn) => turn.items)).toEqual([
    [message("user", "one"), { ...message("user", "summary"), summary: true }],
    [message("user", "two")],
  ]);
});

test("a turn that replaces the history is read back as the whole history, with its own tokens", () => {
  const labels = { provider: "p", model: "m" };
  const one = linesOfTurn({ timestamp: at, items: [message("user", "one")], metadata: { ...labels, tokens: 9000 } }, 0);
  const replaced = { timestamp: at, items: [message("user", "two")], metadata: { tokens: 7, replaces: true as const } };
  expect(turnsOf([...one, ...linesOfTurn(replaced, 0)])).toEqual([
    { timestamp: at, items: [message("user", "two")], metadata: { ...labels, tokens: 7 } },
  ]);
});

test("a cleared history is one turn without items, and a turn that never had any is none", () => {
  const one = linesOfTurn({ timestamp: at, items: [message("user", "one")] }, 0);
  const cleared = { timestamp: at, items: [], metadata: { replaces: true as const } };
  expect(turnsOf([...one, ...linesOfTurn(cleared, 0)])).toEqual([cleared]);
  expect(turnsOf(linesOfTurn({ timestamp: at, items: [] }, 0))).toEqual([]);
});

test("rolled-back turns are removed", () => {
  const turn = (text: string) => linesOfTurn({ timestamp: at, items: [message("user", text)] }, 0);
  const back: OwnLine = { timestamp, type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 1 } };
  const turns = turnsOf([...turn("one"), ...turn("two"), back, ...turn("three")]);
  expect(turns.flatMap(({ items }) => items)).toEqual([message("user", "one"), message("user", "three")]);
});
