import * as fc from "fast-check";
import type { Arbitrary } from "fast-check";
import { describe, expect, test } from "vitest";
import { isCuttable } from "../../src/compaction/cut/cut-item.js";
import { initialContext, isFromModel, isRequest } from "../../src/compaction/item-kinds.js";
import { groupsOf, unfinishedGroups, isSafeCut } from "../../src/compaction/cut/safe-cut.js";
import type { StrategyInput } from "../../src/compaction/strategy.js";
import { strategies } from "../../src/compaction/strategy-for.js";
import {
  messageText,
  type ResponseItem,
  isCall,
  isFlagged,
  isOutput,
  isPinned,
  isSummary,
} from "../../src/messages/response-item.js";
import { conversations, histories } from "./histories.js";
import { count, total } from "./items.js";
import { inputOf } from "./strategy-input.js";

/** All properties of all strategies together run on ten thousand histories. */
const numRuns = 280;

const settings = fc.record({
  targetTokens: fc.oneof(fc.nat({ max: 300 }), fc.integer({ min: 300, max: 3_000 })),
  keepRecentTokens: fc.integer({ min: 1, max: 300 }),
  keepTurns: fc.integer({ min: 1, max: 3 }),
  userMessageTokens: fc.integer({ min: 1, max: 300 }),
  preserveToolResults: fc.constantFrom("all", "recent", "none"),
});
const cutFrom = fc.option(fc.nat({ max: 40 }), { nil: undefined });

/** Half of them have a cut, which is always safe, as the callers guarantee. */
const inputs = fc.tuple(histories, settings, cutFrom).map(([history, chosen, at]): StrategyInput => {
  const cut = at === undefined ? undefined : nextSafeCut(history, at);
  return inputOf(history, cut === undefined ? chosen : { ...chosen, cut });
});

function withoutCut(from: Arbitrary<ResponseItem[]>): Arbitrary<StrategyInput> {
  return fc.tuple(from, settings).map(([history, chosen]) => inputOf(history, chosen));
}

function nextSafeCut(history: readonly ResponseItem[], from: number): number | undefined {
  const places = Array.from({ length: history.length + 1 }, (_, place) => place);
  return places.find((place) => place >= from && isSafeCut(history, place));
}

describe.each([...strategies.values()])("$name", (strategy) => {
  const compacted = (input: StrategyInput, text = "all is well") => strategy.plan(input).build(text);

  test("separates no call from its output", () => {
    check((input) => {
      expect(without(unpaired(compacted(input)), unpaired(input.history))).toEqual([]);
    });
  });

  test("stays within the target, unless nothing more can be removed", () => {
    check((input) => {
      const built = compacted(input);
      const isLeast = built.every(
        (item, place) => isUnremovable(built, place) && (!isCuttable(item) || count(item) <= leastTokens(item)),
      );
      expect(total(built) <= input.targetTokens || isLeast).toBe(true);
    });
  });

  test("keeps context, pins and snapshots, and has one summary", () => {
    check((input) => {
      const built = compacted(input);
      expect(built.filter((item) => isSummary(item) && item.role === "user")).toHaveLength(1);
      expect(built.filter(isGhost)).toEqual(input.history.filter(isGhost));
      expect(initialContext(built).map(opening).toSorted()).toEqual(
        initialContext(input.history).map(opening).toSorted(),
      );
      expect(built.filter(isPinned).map(opening)).toEqual(input.history.filter(isPinned).map(opening));
    });
  });

  test("keeps the last request completely, or its beginning and end", () => {
    check((input) => {
      // user-only joins requests into one text, and truncation may remove the last request from it.
      const targetTokens = strategy.name === "user-only" ? Infinity : input.targetTokens;
      const built = compacted({ ...input, targetTokens });
      const last = input.history.findLast(isRequest);
      const said = built.filter((item) => item.type === "message" && !isPinned(item)).map(allText);
      expect(last === undefined || said.some((text) => text.includes(opening(last)))).toBe(true);
    });
  });

  test("keeps the order of remaining items, and the tail unchanged", () => {
    check((input) => {
      const plan = strategy.plan({ ...input, targetTokens: Infinity });
      const built = plan.build("all is well");
      const places = new Map(input.history.map((item, place) => [item, place]));
      for (const isOfKind of [isPinned, isContext(input.history), isOrdinary(input.history)]) {
        const order = built.filter(isOfKind).flatMap((item) => places.get(item) ?? []);
        expect(order).toEqual(order.toSorted((a, b) => a - b));
      }
      const tail = input.history.slice(plan.cut);
      expect(input.settings.preserveToolResults === "none" || endsWith(built, tail)).toBe(true);
    });
  });

  test("summarizes only the items that no earlier summary covers", () => {
    check((input) => {
      const { toSummarize, cut } = strategy.plan(input);
      const uncovered = new Set(input.history.slice(input.history.findLastIndex(isSummary) + 1));
      expect(toSummarize.every((item) => uncovered.has(item) && !isFlagged(item) && !isGhost(item))).toBe(true);
      const done = input.history.slice(0, cut).filter((item) => uncovered.has(item));
      expect(
        done.every((item) => !(isCall(item) || isOutput(item) || isRequest(item)) || toSummarize.includes(item)),
      ).toBe(true);
    });
  });

  test("keeps the same items with any summary that fits", () => {
    check((input) => {
      const plan = strategy.plan(input);
      expect(plan.build("x".repeat(99)).filter(isNoSummary)).toEqual(plan.build("y".repeat(99)).filter(isNoSummary));
      const large = strategy.plan({ ...input, targetTokens: Infinity });
      expect(large.build("").filter(isNoSummary)).toEqual(large.build("y".repeat(999)).filter(isNoSummary));
    });
  });

  test("a second compaction without new items leaves a conversation unchanged", () => {
    check((input) => {
      expect(again(input)).toEqual(once(input));
    }, withoutCut(conversations));
  });

  test("a second compaction leaves any history unchanged if nothing had to be trimmed", () => {
    // With items in any order, trimming may remove items that prevented others from being removed.
    const large = withoutCut(histories).map((input) => ({ ...input, targetTokens: Infinity }));
    check((input) => {
      expect(again(input)).toEqual(once(input));
    }, large);
  });

  const once = (input: StrategyInput) => compacted(input).filter(isNoSummary);
  const again = (input: StrategyInput) => once({ ...input, history: compacted(input) });
});

function check(property: (input: StrategyInput) => void, from = inputs): void {
  fc.assert(fc.property(from, property), { numRuns });
}

/** The ids of calls without outputs and of outputs without calls, in order. */
function unpaired(items: readonly ResponseItem[]): string[] {
  const open: string[] = [];
  const lost: string[] = [];
  for (const item of items) {
    if (!isCall(item) && !isOutput(item)) continue;
    const key = `${item.type.startsWith("tool_search")} ${item.call_id ?? ""}`;
    if (isCall(item)) open.push(...(typeof item.call_id === "string" ? [key] : []));
    else if (open.includes(key)) open.splice(open.indexOf(key), 1);
    else lost.push(`${key} is lost`);
  }
  return [...open, ...lost];
}

/** The multiset difference of two lists. */
function without(keys: readonly string[], taken: readonly string[]): string[] {
  const left = [...taken];
  return keys.filter((key) => {
    const place = left.indexOf(key);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
}

function isUnremovable(items: readonly ResponseItem[], place: number): boolean {
  const item = items[place];
  if (item === undefined || isFlagged(item) || isGhost(item) || isContext(items)(item)) return true;
  const last = items.findLastIndex(isRequest);
  const groups = groupsOf(items);
  if (unfinishedGroups(items, groups).some(({ places }) => places.includes(place))) return true;
  const newest = groups.findLast(({ isStep }) => isStep)?.places ?? [];
  const done = items.findLastIndex((one) => isFromModel(one) || isOutput(one) || isSummary(one));
  return (
    place === last || (isRequest(item) && place > done) || (newest.includes(place) && newest.every((one) => one > last))
  );
}

/** Texts are not truncated below 64 tokens, or if mostly the marker would remain. */
function leastTokens(item: ResponseItem): number {
  return 64 + (item.type === "message" ? 12 * item.content.length : 0);
}

function isContext(items: readonly ResponseItem[]): (item: ResponseItem) => boolean {
  const context = new Set(initialContext(items));
  return (item) => context.has(item);
}

function isOrdinary(items: readonly ResponseItem[]): (item: ResponseItem) => boolean {
  const isOfContext = isContext(items);
  return (item) => !isOfContext(item) && !isFlagged(item) && !isGhost(item);
}

function isGhost(item: ResponseItem): boolean {
  return item.type === "ghost_snapshot";
}

function isNoSummary(item: ResponseItem): boolean {
  return !isSummary(item);
}

function endsWith(items: readonly ResponseItem[], tail: readonly ResponseItem[]): boolean {
  return tail.every((item, index) => items[items.length - tail.length + index] === item);
}

function allText(item: ResponseItem): string {
  return item.type === "message" ? messageText(item) : "";
}

/** The beginning of a message's text, which truncation always keeps. */
function opening(item: ResponseItem): string {
  const parts = item.type === "message" ? item.content : [];
  const texts = parts.flatMap((part) =>
    "text" in part && !/^\[(?:image|audio)\]$/.test(part.text) ? [part.text] : [],
  );
  return (texts.find((text) => text.trim() !== "") ?? "").slice(0, 15).trim();
}
