import { strategies as builtIn } from "../../../compaction/strategy-for.js";
import type { CompactionStrategy } from "../../../compaction/strategy.js";
import type { Config } from "../../../messages/config.js";
import { InvalidInputError } from "../../../base/errors.js";
import type { ManagerOptions } from "../open/manager-options.js";

/** Ours and those that were injected, by name. A configured one that is not there is said at once, and not at the limit. */
export function knownStrategies(
  { compactionStrategies = [] }: ManagerOptions,
  { compaction }: Config,
): ReadonlyMap<string, CompactionStrategy> {
  const all = [...builtIn.values(), ...compactionStrategies];
  const known = new Map(all.map((strategy) => [strategy.name, strategy]));
  const chosen = compaction?.strategy;
  if (chosen === undefined || known.has(chosen)) return known;
  const names = [...known.keys()].join(", ");
  throw new InvalidInputError(`config: compaction.strategy: there is no ${chosen}. There are: ${names}`);
}
