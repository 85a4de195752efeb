import { expect, test } from "vitest";
import { knowledgeScore, rankKnowledge } from "../../src/context/knowledge.js";
import type { KnowledgeEntry } from "../../src/messages/tools/knowledge.js";

const now = new Date("2026-11-17T12:00:00.000Z");
const day = 24 * 60 * 60 * 1000;

function entry(id: string, fields: Partial<KnowledgeEntry> & { readonly days?: number } = {}): KnowledgeEntry {
  const { days = 0, ...others } = fields;
  const timestamp = new Date(now.getTime() - days * day).toISOString();
  return { id, timestamp, type: "pattern", content: id, confidence: 0.8, ...others };
}

test("a score is confidence times decay with a half-life of thirty days times the weight of its type", () => {
  const scores = (["correction", "preference", "pattern", "decision", "discovery"] as const).map((type) =>
    knowledgeScore(entry("a", { type, confidence: 1 }), now),
  );
  expect(scores).toEqual([1.5, 1.3, 1, 1, 0.8]);
  expect([0, 15, 30, 60, 90].map((days) => knowledgeScore(entry("a", { days, confidence: 0.5 }), now))).toEqual([
    0.5,
    0.5 * 0.5 ** 0.5,
    0.25,
    0.125,
    0.0625,
  ]);
});

test("entries are sorted by score", () => {
  const entries = [
    entry("old correction", { type: "correction", days: 30 }), // 0.6
    entry("new discovery", { type: "discovery" }), // 0.64
    entry("unsure preference", { type: "preference", confidence: 0.4 }), // 0.52
    entry("sure pattern", { confidence: 1, days: 15 }), // 0.707
    entry("new correction", { type: "correction" }), // 1.2
    entry("ancient decision", { type: "decision", confidence: 1, days: 300 }), // 0.001
  ];
  expect(rankKnowledge(entries, now).map(({ id }) => id)).toEqual([
    "new correction",
    "sure pattern",
    "new discovery",
    "old correction",
    "unsure preference",
    "ancient decision",
  ]);
});

test("superseded entries are left out, through any number of steps and in any order", () => {
  const entries = [
    entry("third", { supersedes: "second" }),
    entry("first"),
    entry("second", { supersedes: "first", confidence: 1 }),
    entry("other", { supersedes: "nobody" }),
  ];
  expect(rankKnowledge(entries, now).map(({ id }) => id)).toEqual(["third", "other"]);
});

test("an entry from the future scores like a new one", () => {
  expect(knowledgeScore(entry("a", { days: -10_000 }), now)).toBe(0.8);
});
