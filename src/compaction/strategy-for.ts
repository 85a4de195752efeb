import { codex } from "./strategies/codex.js";
import { recentTokens } from "./strategies/recent-tokens.js";
import { recentTurns } from "./strategies/recent-turns.js";
import { userOnly } from "./strategies/user-only.js";
import type { CompactionStrategy } from "./strategy.js";

/** The built-in strategies by name. */
export const strategies: ReadonlyMap<string, CompactionStrategy> = new Map(
  [codex, recentTurns, recentTokens, userOnly].map((strategy) => [strategy.name, strategy]),
);

const oSeries = /(?:^|[/:])o[134]\b/;

/**
 * Returns the chosen strategy, or undefined if none has that name. Without a choice, returns the one that suits the
 * model.
 */
export function strategyFor(
  model: string,
  chosen: string | undefined,
  known: ReadonlyMap<string, CompactionStrategy> = strategies,
): CompactionStrategy | undefined {
  return known.get(strategyName(model, chosen));
}

export function strategyName(model: string, chosen: string | undefined): string {
  return chosen ?? (oSeries.test(model) ? "user-only" : "codex");
}
