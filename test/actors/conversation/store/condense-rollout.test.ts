import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Condensed,
  condenseLines,
  type SizedLine,
} from "../../../../src/actors/conversation/store/condense-rollout.js";
import { apply, type ConversationState, emptyState } from "../../../../src/actors/conversation/state/state.js";
import type { ResponseItem } from "../../../../src/messages/response-item.js";
import { type OwnLine, RolloutLine } from "../../../../src/messages/rollout-line.js";
import { arbitraryOf } from "../../../support/arbitrary-of.js";

const timestamp = "2026-11-16T00:00:00.000Z";
const knownLine = arbitraryOf(RolloutLine.options[0]) as fc.Arbitrary<OwnLine>;
/** Lines that change earlier lines are rare among generated lines, so they get extra weight here. */
const line = fc.oneof({ weight: 3, arbitrary: knownLine }, { weight: 1, arbitrary: fc.constantFrom(...changes()) });

test("condensed lines produce the same conversation state, in however many chunks they are condensed", () => {
  fc.assert(
    fc.property(fc.array(fc.array(line, { maxLength: 15 }), { maxLength: 4 }), (chunks) => {
      const before = chunks.slice(0, -1);
      const last = condenseLines(sized(chunks.at(-1) ?? []), false);
      const all = [...before.flatMap((lines) => left(lines, last.replaced)), ...linesOf(last)];
      expect(stateOf(all)).toEqual(stateOf(chunks.flat()));
    }),
    { numRuns: 1_000 },
  );
});

test("condensing drops compacted items, displayed events and outdated token counts", () => {
  const turn = [started, said("hello"), shown, counted(1), completed];
  const compacted = replaced([message("summary")]);
  expect(left([...turn, compacted, ...turn])).toEqual([started, completed, compacted, ...turn]);
  expect(left([...turn, compacted])).toEqual([started, counted(1), completed, compacted]);
});

test("condensing keeps the items behind a compaction without a replacement history", () => {
  const summarized: OwnLine = { timestamp, type: "compacted", payload: { message: "summary" } };
  expect(left([said("old"), summarized])).toEqual([said("old"), summarized]);
});

function left(lines: readonly OwnLine[], replacedBehind = false): OwnLine[] {
  return linesOf(condenseLines(sized(lines), replacedBehind));
}

function sized(lines: readonly OwnLine[]): SizedLine[] {
  return lines.map((value) => ({ value, bytes: 1 }));
}

function linesOf({ lines }: Condensed): OwnLine[] {
  return lines.map(({ value }) => value as OwnLine);
}

function stateOf(lines: readonly OwnLine[]): ConversationState {
  const state = emptyState();
  for (const each of lines) apply(state, each);
  return state;
}

const started = event({ type: "task_started", turn_id: "t" });
const completed = event({ type: "task_complete", turn_id: "t", last_agent_message: null });
const shown = event({ type: "user_message", message: "old" });

function changes(): OwnLine[] {
  return [
    replaced([message("summary"), message("kept")]),
    { timestamp, type: "compacted", payload: { message: "summary" } },
    event({ type: "thread_rolled_back", num_turns: 1 }),
    { timestamp, type: "cody", payload: { type: "history_replaced", items: [message("given")] } },
    said("hello"),
  ];
}

function counted(tokens: number): OwnLine {
  const usage = {
    input_tokens: tokens,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_output_tokens: 0,
    total_tokens: tokens,
  };
  return event({ type: "token_count", info: { total_token_usage: usage, last_token_usage: usage } });
}

function replaced(items: ResponseItem[]): OwnLine {
  return { timestamp, type: "compacted", payload: { message: "summary", replacement_history: items } };
}

function said(text: string): OwnLine {
  return { timestamp, type: "response_item", payload: message(text) };
}

function message(text: string): ResponseItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

function event(payload: Extract<OwnLine, { type: "event_msg" }>["payload"]): OwnLine {
  return { timestamp, type: "event_msg", payload };
}
