import { expect, test } from "vitest";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { estimateItemTokens, estimateTokens } from "../../../src/compaction/tokens/estimate-tokens.js";

test.each([
  ["", 0],
  ["a", 1],
  ["abcd", 1],
  ["abcde", 2],
  ["x".repeat(400), 100],
])("%j is estimated as a quarter of its characters, rounded up", (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});

const image = { type: "input_image" as const, image_url: "data:x" };
const items: [ResponseItem, string][] = [
  [{ type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] }, "hello"],
  [{ type: "message", role: "user", content: [image] }, JSON.stringify(image)],
  [{ type: "reasoning", summary: [{ type: "summary_text", text: "a" }], encrypted_content: "b" }, "ab"],
  [{ type: "function_call", name: "shell", arguments: '{"a":1}', call_id: "1" }, 'shell{"a":1}'],
  [{ type: "function_call_output", call_id: "1", output: "done" }, "done"],
  [{ type: "custom_tool_call", name: "patch", input: "text", call_id: "2" }, "patchtext"],
  [{ type: "custom_tool_call_output", call_id: "2", output: [{ type: "input_text", text: "ok" }] }, "ok"],
  [{ type: "compaction", encrypted_content: "secret" }, "secret"],
  [{ type: "ghost_snapshot", ghost_commit: { id: "abc" } }, ""],
  [{ type: "web_search_call", status: "completed" }, '{"type":"web_search_call","status":"completed"}'],
];

test.each(items)("the counted text of %j is %j", (item, text) => {
  const read: string[] = [];
  estimateItemTokens([item], (counted) => read.push(counted));
  expect(read).toEqual([text]);
});

test("items are counted together, so rounding errors do not add up", () => {
  const text = items.map(([, read]) => read).join("");
  const all = items.map(([item]) => item);
  expect(estimateItemTokens(all, estimateTokens)).toBe(Math.ceil(text.length / 4));
  expect(estimateItemTokens([], estimateTokens)).toBe(0);
});
