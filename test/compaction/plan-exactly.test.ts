import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  planCompaction,
  planExactly,
  planFacts,
  type PlanInput,
  type PlannedCompaction,
} from "../../src/compaction/plan-compaction.js";
import { strategies } from "../../src/compaction/strategy-for.js";
import type { CompactionStrategy } from "../../src/compaction/strategy.js";
import type { ResponseItem } from "../../src/messages/response-item.js";
import { histories } from "./histories.js";
import { assistant, user } from "./items.js";

const settings = fc.record({
  keepRecentTokens: fc.integer({ min: 1, max: 300 }),
  keepTurns: fc.integer({ min: 1, max: 3 }),
  userMessageTokens: fc.integer({ min: 1, max: 300 }),
  preserveToolResults: fc.constantFrom("all", "recent", "none"),
});

const contexts = fc.record({
  model: fc.constant("gpt-4o"),
  window: fc.integer({ min: 10, max: 600 }),
  isAssumedWindow: fc.constant(false),
  limit: fc.integer({ min: 10, max: 400 }),
  overhead: fc.nat({ max: 20 }),
  ratio: fc.constantFrom(1, 1.5),
});

/** Plans with exact counts of what is asked for, and notes the places that were counted. */
async function planned(
  items: readonly ResponseItem[],
  strategy: CompactionStrategy,
  input: Omit<PlanInput, "counts" | "estimate">,
  exact: (item: ResponseItem) => number,
): Promise<{ planned: PlannedCompaction; counted: number[] }> {
  const counts: (number | undefined)[] = [];
  const counted: number[] = [];
  const result = await planExactly(
    items,
    strategy,
    { ...input, counts, estimate: roughly },
    ["size", "result"],
    async (places) => {
      for (const place of places) counts[place] = items.slice(place, place + 1).map(exact)[0];
      counted.push(...places);
      return true;
    },
  );
  return { planned: result, counted };
}

function roughly(item: ResponseItem): number {
  return Math.ceil(JSON.stringify(item).length / 4);
}

describe.each([...strategies.values()])("$name", (strategy) => {
  test("is planned as if every item had been counted", async () => {
    // Estimates are assumed to be at most four times too high or too low.
    const factors = fc.constantFrom(0.3, 0.5, 0.9, 1.3, 4);
    await fc.assert(
      fc.asyncProperty(histories, settings, contexts, factors, fc.boolean(), async (...drawn) => {
        const [items, chosen, context, factor, isUrgent] = drawn;
        const exact = (item: ResponseItem): number => Math.ceil(roughly(item) * factor);
        const input = { context, settings: chosen, isUrgent };
        const some = await planned(items, strategy, input, exact);
        const all = planCompaction(items, strategy, { ...input, counts: items.map(exact), estimate: roughly });
        expect(some.planned.plan.build("so far")).toEqual(all.plan.build("so far"));
        expect(some.planned.plan.cut).toBe(all.plan.cut);
        const [facts, expected] = [planFacts(some.planned), planFacts(all)];
        expect(facts.tokensBefore > context.limit).toBe(expected.tokensBefore > context.limit);
      }),
      { numRuns: 200 },
    );
  });
});

test("of a long history only the messages that may stay are counted, and the items that no provider has counted", async () => {
  const items = Array.from({ length: 2_000 }, (_, place) =>
    place % 2 === 0 ? user("word ".repeat(100)) : assistant("word ".repeat(1_000)),
  );
  const strategy = strategies.get("codex");
  if (strategy === undefined) throw new Error("there is no codex strategy");
  const { counted } = await planned(
    items,
    strategy,
    {
      context: {
        model: "gpt-4o",
        window: 128_000,
        isAssumedWindow: false,
        limit: 100_000,
        overhead: 100,
        ratio: 1,
        reported: { tokens: 90_000, items: 1_990 },
      },
      settings: { keepRecentTokens: 20_000, keepTurns: 5, userMessageTokens: 20_000, preserveToolResults: "recent" },
    },
    (item) => Math.ceil(roughly(item) * 0.9),
  );
  expect(counted.length).toBeLessThan(200);
  expect(counted.filter((place) => place % 2 === 1).toSorted((a, b) => a - b)).toEqual([1991, 1993, 1995, 1997, 1999]);
});
