import { expect, test } from "vitest";
import { contextText } from "../../../src/cli/terminal/context-text.js";
import type { ContextUsage, ItemSize } from "../../../src/messages/compaction.js";

const items: ItemSize[] = [
  { kind: "instructions", tokens: 1_200, text: "You are a coding agent" },
  { kind: "tools", tokens: 900, text: "shell, read_file, write_file" },
  { kind: "summary", tokens: 400, text: "Summary of earlier conversation:" },
  { kind: "user", tokens: 10, text: "first" },
  { kind: "user", tokens: 20, text: "second" },
  { kind: "assistant", tokens: 0, text: "" },
  { kind: "tool_output", tokens: 12_000, text: "total 42" },
];
const usage: ContextUsage = {
  model: "gpt-4o",
  window: 128_000,
  isAssumedWindow: false,
  limit: 102_400,
  tokens: 14_530,
  items,
};

test("each kind of item has a row with tokens, share of the window and a bar, followed by the largest items", () => {
  expect(contextText(usage, 60)).toEqual([
    "gpt-4o: 15k of 128k tokens, 11%",
    "Compacts above 102k tokens",
    "",
    "  instructions    1.2k    1%  ██▉",
    "  tools            900    1%  ██▏",
    "  summary          400   <1%  █",
    "  user              30   <1%  ▏",
    "  assistant          0    0%",
    "  tool outputs     12k    9%  █████████████████████████████",
    "",
    "Largest items:",
    "     12k  tool output   total 42",
    "    1.2k  instructions  You are a coding agent",
    "     900  tools         shell, read_file, write_file",
    "     400  summary       Summary of earlier conversation:",
    "      20  user          second",
    "      10  user          first",
  ]);
});

test("a context window that is not known is marked as assumed", () => {
  expect(contextText({ ...usage, isAssumedWindow: true }, 60)[0]).toBe("gpt-4o: 15k of 128k tokens (assumed), 11%");
});

test("only the ten largest items are listed", () => {
  const many = Array.from({ length: 30 }, (_, index): ItemSize => ({ kind: "user", tokens: index + 1, text: "x" }));
  const lines = contextText({ ...usage, items: many }, 60);
  expect(lines.slice(lines.indexOf("Largest items:") + 1)).toHaveLength(10);
});

test.each([undefined, 0, 20, 30, 40, 80, 200])("with %j columns no line is longer than the terminal", (columns) => {
  const long: ItemSize = { kind: "user", tokens: 5_000, text: "長い文章です。".repeat(12) };
  const lines = contextText({ ...usage, items: [...items, long] }, columns);
  const width = Math.max(columns || 80, 32);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
  // A terminal too narrow for the bar shows none.
  expect(lines.join("\n").includes("█")).toBe(columns !== 20 && columns !== 30);
});

test("control characters in items are escaped", () => {
  const evil: ItemSize = { kind: "user", tokens: 5_000, text: "\u001b]52;c;eA==\u0007" };
  expect(contextText({ ...usage, items: [evil] }, 80).join("\n")).not.toContain("\u001b");
});
