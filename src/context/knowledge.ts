import { settingsTable } from "../messages/settings/settings-table.js";
import type { KnowledgeEntry, KnowledgeType } from "../messages/tools/knowledge.js";
import { visibleLine } from "./visible-text.js";

const weights = {
  correction: 1.5,
  preference: 1.3,
  pattern: 1.0,
  decision: 1.0,
  discovery: 0.8,
} satisfies Record<KnowledgeType, number>;

const halfLifeMs = 30 * 24 * 60 * 60 * 1000;

const charsPerToken = 4;
const header = "## Project Knowledge\nThe following knowledge was accumulated from previous sessions:\n\n";

/**
 * Builds the knowledge section of the system prompt from the highest-ranked entries that fit the budget. Returns an
 * empty string when none fit. An entry that is too long is skipped, so that shorter ones can still use the remaining
 * budget.
 */
export function buildKnowledgeSection(
  entries: readonly KnowledgeEntry[],
  budgetTokens: number = settingsTable["knowledge.injectionBudget"].default,
  now: Date = new Date(),
): string {
  let room = budgetTokens - tokensOf(header);
  const lines: string[] = [];
  for (const { type, content } of rankKnowledge(entries, now)) {
    const line = `- [${type}] ${visibleLine(content)}\n`;
    if (tokensOf(line) > room) continue;
    room -= tokensOf(line);
    lines.push(line);
  }
  return lines.length === 0 ? "" : header + lines.join("");
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / charsPerToken);
}

interface RankedKnowledge {
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
