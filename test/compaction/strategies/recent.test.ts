import { describe, expect, test } from "vitest";
import { findCutPoint } from "../../../src/compaction/cut/choose-cut.js";
import { recentTokens } from "../../../src/compaction/strategies/recent-tokens.js";
import { recentTurns } from "../../../src/compaction/strategies/recent-turns.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { agents, assistant, call, ghost, output, pinned, summary, thought, user, words } from "../items.js";
import { inputOf } from "../strategy-input.js";

function turns(count: number, tokens = 10): ResponseItem[] {
  return Array.from({ length: count }, (_, index) => [
    user(`request ${index}`),
    thought("hm"),
    call(`${index}`),
    output(`${index}`, words(tokens)),
    assistant("done"),
  ]).flat();
}

describe("recent-turns", () => {
  const s = summary("Previous conversation summary:\ns");

  test("the last five turns stay unchanged, including tool results", () => {
    const history = [agents("kind"), ...turns(2), ghost("1"), pinned("p"), ...turns(5)];
    const plan = recentTurns.plan(inputOf(history));
    expect(plan.toSummarize).toEqual(turns(2));
    expect(plan.build("s")).toEqual([agents("kind"), pinned("p"), s, ghost("1"), ...turns(5)]);
  });

  test("fewer turns stay if five do not fit", () => {
    const plan = recentTurns.plan(inputOf(turns(5, 1_000), { targetTokens: 3_000 }));
    expect(plan.build("s")).toEqual([s, ...turns(5, 1_000).slice(-10)]);
  });

  test("an oversized single turn keeps its last steps, and its request before the summary", () => {
    const steps = turns(5, 1_000).filter((item) => item.type !== "message");
    const plan = recentTurns.plan(inputOf([user("go"), ...steps], { targetTokens: 3_000 }));
    expect(plan.build("s")).toEqual([user("go"), s, ...steps.slice(-6)]);
    expect(plan.toSummarize).toEqual([user("go"), ...steps.slice(0, -6)]);
  });

  test("there is nothing to summarize if no turn is older", () => {
    expect(recentTurns.plan(inputOf([agents("kind"), ...turns(5)])).toSummarize).toEqual([]);
    expect(recentTurns.plan(inputOf([agents("kind"), s, ...turns(5)]))).toMatchObject({
      cut: 2,
      toSummarize: [],
      previousSummary: "s",
    });
  });
});

describe("recent-tokens", () => {
  const s = summary("[Session Summary]\ns");

  test("the summary comes first, followed by all items from a user message on", () => {
    const history = turns(10, 100);
    const plan = recentTokens.plan(inputOf([agents("kind"), ...history], { keepRecentTokens: 250 }));
    expect(plan.build("s")).toEqual([agents("kind"), s, ...history.slice(-10)]);
    expect(plan.toSummarize).toEqual(history.slice(0, -10));
  });

  test("a turn with more tokens than keepRecentTokens stays complete if it fits", () => {
    const history = [...turns(2), ...turns(1, 1_000)];
    expect(recentTokens.plan(inputOf(history, { keepRecentTokens: 250 })).cut).toBe(10);
  });

  test("a single turn is cut between its steps", () => {
    const steps = turns(5, 100).filter((item) => item.type !== "message");
    const plan = recentTokens.plan(inputOf([user("go"), ...steps], { keepRecentTokens: 250 }));
    expect(plan.build("s")).toEqual([user("go"), s, ...steps.slice(-6)]);
  });
});

describe("findCutPoint", () => {
  test("cuts at the first user message after the point with enough tokens", () => {
    const history = [user(words(10)), assistant(words(10)), user(words(10)), assistant(words(10))];
    expect(findCutPoint([], 10)).toEqual({ firstKeptIndex: 0, entriesToSummarize: [], entriesToKeep: [] });
    expect(findCutPoint(history, 40).firstKeptIndex).toBe(0);
    expect(findCutPoint(history, 39).firstKeptIndex).toBe(0);
    expect(findCutPoint(history, 29)).toEqual({
      firstKeptIndex: 2,
      entriesToSummarize: history.slice(0, 2),
      entriesToKeep: history.slice(2),
    });
    expect(findCutPoint(history, 5).firstKeptIndex).toBe(2);
  });

  test("never cuts before an earlier summary", () => {
    const history = [user(words(10)), summary("s"), user(words(10)), assistant(words(10)), user("end")];
    expect(findCutPoint(history, 1_000).firstKeptIndex).toBe(2);
    expect(findCutPoint(history, 5).entriesToSummarize).toEqual(history.slice(2, 4));
  });

  test("uses the caller's token counter", () => {
    expect(findCutPoint([user("a"), assistant("b"), user("c"), assistant("d")], 2, () => 1).firstKeptIndex).toBe(2);
  });
});
