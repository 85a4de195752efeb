import { expect, test } from "vitest";
import { firstRatio, learnedRatio } from "../../../src/compaction/tokens/estimate-tokens.js";

test("the first ratio is higher for Claude, and 1 for other models", () => {
  expect(firstRatio("claude-sonnet-4-20250514")).toBe(1.15);
  expect(firstRatio("qwen3")).toBe(1);
});

test.each([
  ["claude-sonnet-4", 1.15, 1000, 1250, 1.2],
  ["qwen3", 1, 1000, 2000, 1.5],
  ["qwen3", 1, 1000, 100_000, 2],
  ["qwen3", 1, 1000, 10, 0.75],
])(
  "the ratio of %s at %d with %d counted and %d reported tokens becomes %d",
  (model, ratio, counted, reported, learned) => {
    expect(learnedRatio(model, ratio, counted, reported)).toBeCloseTo(learned);
  },
);

test.each([
  ["gpt-4o", 1000, 2000],
  ["openai/o3", 1000, 2000],
  ["qwen3", 100, 2000],
  ["qwen3", 1000, 0],
])("the ratio of %s does not change with %d counted and %d reported tokens", (model, counted, reported) => {
  expect(learnedRatio(model, 1, counted, reported)).toBe(1);
});
