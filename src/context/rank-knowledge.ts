import type { KnowledgeEntry, KnowledgeType } from "../messages/tools/knowledge.js";

const weights = {
  correction: 1.5,
  preference: 1.3,
  pattern: 1.0,
  decision: 1.0,
  discovery: 0.8,
} satisfies Record<KnowledgeType, number>;

const halfLifeMs = 30 * 24 * 60 * 60 * 1000;

export interface RankedKnowledge {
  readonly entry: KnowledgeEntry;
  readonly score: number;
}

/** Scores an entry by confidence and type; the score halves every thirty days. */
export function knowledgeScore({ confidence, timestamp, type }: KnowledgeEntry, now: Date): number {
  // An entry dated in the future would otherwise stay on top forever.
  const ageMs = Math.max(0, now.getTime() - Date.parse(timestamp));
  return confidence * 0.5 ** (ageMs / halfLifeMs) * weights[type];
}

/** Returns the entries that no other entry supersedes. */
export function activeKnowledge(entries: readonly KnowledgeEntry[]): KnowledgeEntry[] {
  const superseded = new Set(entries.map(({ supersedes }) => supersedes));
  return entries.filter(({ id }) => !superseded.has(id));
}

export function scoredKnowledge(entries: readonly KnowledgeEntry[], now: Date): RankedKnowledge[] {
  return activeKnowledge(entries)
    .map((entry) => ({ entry, score: knowledgeScore(entry, now) }))
    .toSorted((a, b) => b.score - a.score);
}

/** Returns the active entries, highest score first. */
export function rankKnowledge(entries: readonly KnowledgeEntry[], now: Date = new Date()): KnowledgeEntry[] {
  return scoredKnowledge(entries, now).map(({ entry }) => entry);
}
