import { expect, test } from "vitest";
import { codex } from "../../src/compaction/strategies/codex.js";
import { strategyFor } from "../../src/compaction/strategy-for.js";

test.each([
  ["gpt-4o", undefined, "codex"],
  ["o1", undefined, "user-only"],
  ["o3-mini", undefined, "user-only"],
  ["openai/o4-mini", undefined, "user-only"],
  ["azure:o3", undefined, "user-only"],
  ["o2", undefined, "codex"],
  ["o10", undefined, "codex"],
  ["proto3", undefined, "codex"],
  ["o3", "codex", "codex"],
  ["gpt-4o", "recent-turns", "recent-turns"],
  ["gpt-4o", "recent-tokens", "recent-tokens"],
  ["gpt-4o", "no-such", undefined],
])("strategyFor model %s and setting %s is %s", (model, chosen, name) => {
  expect(strategyFor(model, chosen)?.name).toBe(name);
});

test("strategyFor finds custom strategies", () => {
  const mine = { ...codex, name: "mine" };
  expect(strategyFor("gpt-4o", "mine", new Map([["mine", mine]]))).toBe(mine);
});
