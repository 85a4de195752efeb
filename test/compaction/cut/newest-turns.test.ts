import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newestTurns } from "../../../src/compaction/cut/newest-turns.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { isRealUserMessage } from "../../../src/base/codex/context-message.js";
import { assistant, user } from "../../support/scripted-provider.js";

const environment = user("<environment_context>\n</environment_context>");
const ghost: ResponseItem = { type: "ghost_snapshot", ghost_commit: { id: "c0ffee" } };
const opaque: ResponseItem = { type: "compaction", encrypted_content: "…" };

function call(callId: string): ResponseItem {
  return { type: "function_call", name: "shell", arguments: "{}", call_id: callId };
}

function output(callId: string): ResponseItem {
  return { type: "function_call_output", call_id: callId, output: "done" };
}

test("the newest turns are complete, and older ones are removed", () => {
  const turns = [1, 2, 3, 4, 5].map((n) => [user(`${n}`), call(`c${n}`), output(`c${n}`), assistant(`answer ${n}`)]);
  expect(newestTurns(turns.flat(), 3)).toEqual(turns.slice(2).flat());
  expect(newestTurns(turns.flat(), 5)).toEqual(turns.flat());
  expect(newestTurns([], 3)).toEqual([]);
});

test("items before the first turn, summaries and snapshots stay", () => {
  const old = [user("1"), ghost, assistant("one"), opaque, user("2")];
  const history = [environment, ...old, user("3"), assistant("three")];
  expect(newestTurns(history, 1)).toEqual([environment, ghost, opaque, user("3"), assistant("three")]);
});

test("context messages begin no turn", () => {
  const history = [user("1"), assistant("one"), user("2"), environment, assistant("two")];
  expect(newestTurns(history, 1)).toEqual([user("2"), environment, assistant("two")]);
});

test("an output after the next user message is removed with its call", () => {
  const history = [user("1"), call("a"), user("2"), output("a"), call("b"), output("b")];
  expect(newestTurns(history, 1)).toEqual([user("2"), call("b"), output("b")]);
});

test("no call is separated from its output, and the order stays", () => {
  const item = fc.oneof(
    fc.constantFrom(user("said"), environment, ghost, opaque, assistant("answer")),
    fc.constantFrom("a", "b", "c").map(call),
    fc.constantFrom("a", "b", "c").map(output),
  );
  fc.assert(
    fc.property(fc.array(item, { maxLength: 40 }).map(withoutLoose), fc.integer({ min: 1, max: 6 }), (items, max) => {
      const seen = newestTurns(items, max);
      expect(withoutLoose(seen)).toEqual(seen);
      expect(seen.filter(isRealUserMessage).length).toBe(Math.min(max, items.filter(isRealUserMessage).length));
      const isLater = (one: ResponseItem) => (from = items.indexOf(one, from) + 1) > 0;
      let from = 0;
      expect(seen.every(isLater)).toBe(true);
    }),
  );
});

/** Removes outputs without a call before them. */
function withoutLoose(items: readonly ResponseItem[]): ResponseItem[] {
  const called = new Set<string>();
  return items.filter((item) => {
    if (item.type === "function_call") called.add(item.call_id);
    return item.type !== "function_call_output" || called.has(item.call_id);
  });
}
