import type { CompactionConfig } from "../../messages/compaction.js";

type Settings = { readonly [K in keyof CompactionConfig]-?: NonNullable<CompactionConfig[K]> };
type Unset = "strategy" | "tokenLimit" | "reserveTokens" | "prompt";

/**
 * Settings without a default may be undefined: then only the ratio triggers compaction, the built-in prompt is used,
 * and the strategy depends on the model.
 */
export type EffectiveCompaction = Omit<Settings, Unset> & { readonly [K in Unset]: Settings[K] | undefined };

export const defaultCompaction = {
  enabled: true,
  mode: "blocking",
  ratio: 0.8,
  keepRecentTokens: 20_000,
  keepTurns: 5,
  userMessageTokens: 20_000,
  preserveToolResults: "recent",
  onFailure: "keep",
} as const satisfies Omit<Settings, Unset>;

export function effectiveCompaction(said: CompactionConfig = {}): EffectiveCompaction {
  return {
    enabled: said.enabled ?? defaultCompaction.enabled,
    strategy: said.strategy,
    mode: said.mode ?? defaultCompaction.mode,
    ratio: said.ratio ?? defaultCompaction.ratio,
    tokenLimit: said.tokenLimit,
    reserveTokens: said.reserveTokens,
    keepRecentTokens: said.keepRecentTokens ?? defaultCompaction.keepRecentTokens,
    keepTurns: said.keepTurns ?? defaultCompaction.keepTurns,
    userMessageTokens: said.userMessageTokens ?? defaultCompaction.userMessageTokens,
    preserveToolResults: said.preserveToolResults ?? defaultCompaction.preserveToolResults,
    onFailure: said.onFailure ?? defaultCompaction.onFailure,
    prompt: said.prompt,
  };
}
