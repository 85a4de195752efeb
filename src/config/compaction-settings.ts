import type { CompactionConfig } from "../messages/compaction.js";

/** What holds when nobody has said otherwise. */
export const defaultCompaction = {
  enabled: true,
  strategy: "codex",
  mode: "blocking",
  ratio: 0.8,
  keepRecentTokens: 20_000,
  keepTurns: 5,
  userMessageTokens: 20_000,
  preserveToolResults: "recent",
  onFailure: "keep",
} as const satisfies CompactionConfig;

/** What has no default counts as not set: the ratio alone decides then, and our prompt asks. */
export type EffectiveCompaction = Readonly<
  Required<Omit<CompactionConfig, "tokenLimit" | "reserveTokens" | "prompt" | "strategy">> &
    Pick<CompactionConfig, "tokenLimit" | "reserveTokens" | "prompt" | "strategy">
>;

/** Without a strategy that somebody chose, the model decides. */
export function effectiveCompaction(said: CompactionConfig = {}): EffectiveCompaction {
  const { strategy: _, ...defaults } = defaultCompaction;
  return { ...defaults, ...said };
}
