import { expect, test } from "vitest";
import type { OwnLine } from "../../src/messages/rollout-line.js";
import { TurnEnds } from "../../src/rollouts/turns.js";

const timestamp = "2026-11-16T00:00:00.000Z";

function said(role: "user" | "assistant"): OwnLine {
  const content = [{ type: role === "user" ? ("input_text" as const) : ("output_text" as const), text: "hi" }];
  return { timestamp, type: "response_item", payload: { type: "message", role, content } };
}

const [question, answer] = [said("user"), said("assistant")];
const started: OwnLine = {
  timestamp,
  type: "event_msg",
  payload: { type: "task_started", turn_id: "1", model_context_window: null },
};
const completed: OwnLine = {
  timestamp,
  type: "event_msg",
  payload: { type: "task_complete", turn_id: "1", last_agent_message: null },
};
const turn = [started, question, answer, completed];

function rolledBack(turns: number): OwnLine {
  return { timestamp, type: "event_msg", payload: { type: "thread_rolled_back", num_turns: turns } };
}

function endsOf(lines: readonly OwnLine[]): (number | undefined)[] {
  const ends = new TurnEnds();
  for (const line of lines) ends.add(line);
  return Array.from({ length: ends.turns + 1 }, (_, index) => ends.endOf(index + 1));
}

test("a turn ends with its last line, or where the next one begins", () => {
  expect(endsOf([])).toEqual([undefined]);
  expect(endsOf([...turn, ...turn])).toEqual([4, 8, undefined]);
  expect(endsOf([started, question, ...turn])).toEqual([2, 6, undefined]);
  expect(endsOf([...turn, started, question])).toEqual([4, 6, undefined]);
});

test("a message between turns with start events is not a turn", () => {
  expect(endsOf([...turn, question, ...turn])).toEqual([4, 9, undefined]);
});

test("without start events a user message begins a turn", () => {
  expect(endsOf([question, answer, question, answer])).toEqual([2, 4, undefined]);
});

test("the next turn gets the number of a rolled-back one", () => {
  expect(endsOf([...turn, ...turn, rolledBack(1)])).toEqual([4, undefined]);
  expect(endsOf([...turn, ...turn, rolledBack(1), ...turn])).toEqual([4, 13, undefined]);
  expect(endsOf([...turn, rolledBack(5), ...turn])).toEqual([9, undefined]);
});
