import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { type OwnLine, RolloutLine } from "../../../src/messages/rollout-line.js";
import { applyToHistory, onlyExtends } from "../../../src/rollouts/file/history.js";
import { arbitraryOf } from "../../support/arbitrary-of.js";

const timestamp = "2026-11-16T00:00:00.000Z";

test("ghost snapshots stay in the history, system messages and unknown items do not", () => {
  const ghost: ResponseItem = { type: "ghost_snapshot", ghost_commit: { id: "1" } };
  expect(
    fold([
      item({ type: "message", role: "system", content: [{ type: "input_text", text: "system" }] }),
      item(ghost),
      item(JSON.parse('{"type":"teleport"}') as ResponseItem),
      item(JSON.parse('{"type":"constructor"}') as ResponseItem),
      item(user("hello")),
    ]),
  ).toEqual([ghost, user("hello")]);
});

test("a line that only extends the history leaves the items before it unchanged", () => {
  const before: ResponseItem[] = [user("one"), user("two")];
  const lines = arbitraryOf(RolloutLine.options[0]) as fc.Arbitrary<OwnLine>;
  fc.assert(
    fc.property(lines.filter(onlyExtends), (line) => {
      const history = [...before];
      applyToHistory(history, line);
      expect(history.slice(0, 2)).toEqual(before);
    }),
  );
  const rollback: OwnLine = { timestamp, type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 1 } };
  const replaced: OwnLine = { timestamp, type: "cody", payload: { type: "history_replaced", items: [] } };
  expect([rollback, replaced, compacted("summary", [])].map(onlyExtends)).toEqual([false, false, false]);
});

test("a compaction with a replacement history replaces the whole history", () => {
  const lines = [item(user("one")), compacted("summary", [user("two"), user("summary")]), item(user("three"))];
  expect(fold(lines)).toEqual([user("two"), user("summary"), user("three")]);
});

test("a compaction without a replacement history keeps user messages, the summary and ghost snapshots", () => {
  const ghost: ResponseItem = { type: "ghost_snapshot", ghost_commit: { id: "1" } };
  const lines = [
    item(user("<environment_context>\n  <cwd>/</cwd>\n</environment_context>")),
    item(user("one")),
    item(ghost),
    item(assistant("answer")),
    item(user("two")),
    compacted("summary"),
  ];
  expect(fold(lines)).toEqual([user("one"), user("two"), summary("summary"), ghost]);
});

test("a compaction without a replacement history keeps only the text of user messages, in one part", () => {
  const said: ResponseItem = {
    type: "message",
    id: "msg_1",
    role: "user",
    content: [
      { type: "input_text", text: "look: " },
      { type: "input_image", image_url: "data:image/png;base64,AAAA" },
      { type: "input_text", text: "what is it?" },
    ],
  };
  expect(fold([item(said), compacted("summary")])).toEqual([user("look: what is it?"), summary("summary")]);
});

test("a compaction without a summary gets a placeholder", () => {
  expect(fold([item(user("one")), compacted("")])).toEqual([user("one"), summary("(no summary available)")]);
});

test("of user messages with 30k, 15k and 10k tokens the newest is kept, the middle one truncated and the oldest dropped", () => {
  const newest = user("c".repeat(40_000));
  const lines = [item(user("a".repeat(120_000))), item(user("b".repeat(60_000))), item(newest)];
  const half = "b".repeat(20_000);
  expect(fold([...lines, compacted("summary")])).toEqual([
    user(`${half}…5000 tokens truncated…${half}`),
    newest,
    summary("summary"),
  ]);
});

test("a second compaction without a replacement history drops the first summary", () => {
  const lines = [item(user("one")), compacted("first"), item(user("two")), compacted("second")];
  expect(fold(lines)).toEqual([user("one"), user("two"), summary("second")]);
});

test("truncation in the middle falls on character boundaries", () => {
  const [cut] = fold([item(user("€".repeat(30_000))), compacted("summary")]);
  expect(JSON.stringify(cut)).toMatch(/"€+…\d+ tokens truncated…€+"/);
});

test("a rollback cuts before the n-th last user message and the context before it", () => {
  const context = user("<environment_context>changed</environment_context>");
  const lines = [item(context), item(user("one")), item(assistant("1")), item(context), item(user("two"))];
  expect(fold([...lines, rolledBack(1)])).toEqual([context, user("one"), assistant("1")]);
  expect(fold([...lines, rolledBack(2)])).toEqual([context]);
  expect(fold([...lines, rolledBack(9)])).toEqual([context]);
  expect(fold([...lines, rolledBack(0)])).toHaveLength(5);
});

test("a history replaced by the caller replaces all earlier items", () => {
  const replaced: OwnLine = { timestamp, type: "cody", payload: { type: "history_replaced", items: [user("new")] } };
  expect(fold([item(user("old")), replaced])).toEqual([user("new")]);
});

function fold(lines: readonly OwnLine[]): ResponseItem[] {
  const history: ResponseItem[] = [];
  for (const line of lines) applyToHistory(history, line);
  return history;
}

function item(payload: ResponseItem): OwnLine {
  return { timestamp, type: "response_item", payload };
}

function user(text: string): ResponseItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

function summary(text: string): ResponseItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }], summary: true };
}

function assistant(text: string): ResponseItem {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

function compacted(message: string, replacement?: ResponseItem[]): OwnLine {
  const history = replacement === undefined ? {} : { replacement_history: replacement };
  return { timestamp, type: "compacted", payload: { message, ...history } };
}

function rolledBack(turns: number): OwnLine {
  return { timestamp, type: "event_msg", payload: { type: "thread_rolled_back", num_turns: turns } };
}
