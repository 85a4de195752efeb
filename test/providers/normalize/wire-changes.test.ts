import { expect, test } from "vitest";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { wireChanges } from "../../../src/providers/normalize/normalize-history.js";
import { assistant, user } from "../../support/scripted-provider.js";

const call: ResponseItem = { type: "function_call", name: "shell", arguments: "{}", call_id: "1" };
const output: ResponseItem = { type: "function_call_output", call_id: "1", output: "done" };
const foreign: ResponseItem = {
  type: "reasoning",
  summary: [],
  encrypted_content: "sealed",
  origin: { api: "messages", model: "claude-x" },
};

test("a valid history has no changes over any API", () => {
  const items = [user("hi"), call, output, assistant("done"), user("more")];
  for (const api of ["responses", "chat", "messages"] as const) {
    const { sent, types } = wireChanges(api, items, "m");
    expect(sent).toBe(5);
    expect(types).toEqual([
      { type: "message", same: 3, changed: 0, leftOut: 0, added: 0 },
      { type: "function_call", same: 1, changed: 0, leftOut: 0, added: 0 },
      { type: "function_call_output", same: 1, changed: 0, leftOut: 0, added: 0 },
    ]);
  }
});

test("missing and orphan outputs, repeated ids and foreign reasoning are counted as changes", () => {
  const orphan: ResponseItem = { type: "function_call_output", call_id: "gone", output: "?" };
  const items = [user("hi"), foreign, call, output, { ...call }, user("go on"), orphan];
  const { types } = wireChanges("responses", items, "gpt-5");
  expect(types).toContainEqual({ type: "reasoning", same: 0, changed: 0, leftOut: 1, added: 0 });
  expect(types).toContainEqual({ type: "function_call", same: 1, changed: 1, leftOut: 0, added: 0 });
  // The orphan is left out and the missing output is added, which counts as one change.
  expect(types).toContainEqual({ type: "function_call_output", same: 1, changed: 1, leftOut: 0, added: 0 });
});
