import type { KnowledgeEntry } from "../messages/knowledge.js";
import { rankKnowledge } from "./rank-knowledge.js";
import { toldLine } from "./told-text.js";

/** How many tokens a project's knowledge may have in the system prompt, unless configured otherwise. */
export const defaultInjectionBudget = 8_192;
const charsPerToken = 4;
const header = "## Project Knowledge\nThe following knowledge was accumulated from previous sessions:\n\n";

/**
 * The part of the system prompt that says what is known of a project: the best entries that fit into so many tokens.
 * Empty when there is none. One that is too long for what is left does not keep shorter ones out.
 */
export function buildKnowledgeSection(
  entries: readonly KnowledgeEntry[],
  budgetTokens: number = defaultInjectionBudget,
  now: Date = new Date(),
): string {
  let room = budgetTokens - tokensOf(header);
  const lines: string[] = [];
  for (const { type, content } of rankKnowledge(entries, now)) {
    const line = `- [${type}] ${toldLine(content)}\n`;
    if (tokensOf(line) > room) continue;
    room -= tokensOf(line);
    lines.push(line);
  }
  return lines.length === 0 ? "" : header + lines.join("");
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / charsPerToken);
}
