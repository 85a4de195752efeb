import { strategies as builtIn } from "../../../compaction/strategy-for.js";
import type { CompactionStrategy } from "../../../compaction/strategy.js";
import type { Config } from "../../../messages/config.js";
import { InvalidInputError } from "../../../base/errors.js";
import type { ManagerOptions } from "../open/manager-options.js";

/**
 * Returns the built-in and injected strategies, by name. Throws at once for an unknown configured strategy, not only
 * when the limit is reached.
 */
export function strategiesByName(
  { compactionStrategies = [] }: ManagerOptions,
  { compaction }: Config,
): ReadonlyMap<string, CompactionStrategy> {
  const all = [...builtIn.values(), ...compactionStrategies];
  const known = new Map(all.map((strategy) => [strategy.name, strategy]));
  const chosen = compaction?.strategy;
  if (chosen === undefined || known.has(chosen)) return known;
  const names = [...known.keys()].join(", ");
  throw new InvalidInputError(`config: compaction.strategy: unknown strategy ${chosen}. Strategies: ${names}`);
}
