import { codex } from "./strategies/codex.js";
import { recentTokens } from "./strategies/recent-tokens.js";
import { recentTurns } from "./strategies/recent-turns.js";
import { userOnly } from "./strategies/user-only.js";
import type { CompactionStrategy } from "./strategy.js";

/** Ours, by their names. */
export const strategies: ReadonlyMap<string, CompactionStrategy> = new Map(
  [codex, recentTurns, recentTokens, userOnly].map((strategy) => [strategy.name, strategy]),
);

const oSeries = /(?:^|[/:])o[134]\b/;

/** The strategy somebody chose, undefined when there is none of that name; else the one that suits the model. */
export function strategyFor(
  model: string,
  chosen: string | undefined,
  known: ReadonlyMap<string, CompactionStrategy> = strategies,
): CompactionStrategy | undefined {
  return known.get(chosen ?? (oSeries.test(model) ? "user-only" : "codex"));
}
