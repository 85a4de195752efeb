import type { KnowledgeEntry } from "../messages/tools/knowledge.js";
import { settingsTable } from "../messages/settings-table.js";
import { rankKnowledge } from "./rank-knowledge.js";
import { visibleLine } from "./told-text.js";

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
