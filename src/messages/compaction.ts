import * as z from "zod";

const count = z.number().int().nonnegative();

/** A strategy's name: one of ours, or one that was injected. */
export const StrategyName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "a strategy is a lower-case word");

/** Why a history was compacted. `undo` goes back to the history before a compaction. */
export const CompactionTrigger = z.enum(["auto", "manual", "overflow", "undo"]);
export type CompactionTrigger = z.infer<typeof CompactionTrigger>;

/** Where a summary comes from: a model, or facts taken from the history without one. */
export const SummarySource = z.enum(["model", "extracted"]);
export type SummarySource = z.infer<typeof SummarySource>;

/** What a record of a compaction says besides Codex's own fields. */
export const CompactionNotes = z.object({
  trigger: CompactionTrigger,
  strategy: z.string(),
  source: SummarySource,
  tokens_before: count,
  tokens_after: count,
  items_before: count,
  items_after: count,
  /** How many old items the model did not see when it summarized, because they did not fit. */
  truncated_count: count,
  /** The files read and modified since the conversation began, as the tools named them. */
  read_files: z.array(z.string()),
  modified_files: z.array(z.string()),
});
export type CompactionNotes = z.infer<typeof CompactionNotes>;

const tokens = z.number().int().positive();

/** When a history is compacted; of what is set, the smallest limit counts. */
export const CompactionThresholds = z.strictObject({
  /** The part of the window that must be passed. */
  ratio: z.number().positive().max(1).optional(),
  tokenLimit: tokens.optional(),
  /** How much of the window must stay free; at most half of it counts. */
  reserveTokens: tokens.optional(),
});

/** When and how histories are compacted; all of it optional. */
export const CompactionConfig = z.strictObject({
  enabled: z.boolean().optional(),
  strategy: StrategyName.optional(),
  /** Whether a summary is made when it is needed, or beside the turns before that. */
  mode: z.enum(["blocking", "background"]).optional(),
  ...CompactionThresholds.shape,
  /** What `recent-tokens` keeps as it is. */
  keepRecentTokens: tokens.optional(),
  /** What `recent-turns` keeps as it is. */
  keepTurns: z.number().int().positive().max(1000).optional(),
  /** What `codex` keeps of the user's messages. */
  userMessageTokens: tokens.optional(),
  /** Which tool results outlive a compaction: all that fit, those of turns that are kept, or none. */
  preserveToolResults: z.enum(["all", "recent", "none"]).optional(),
  /** What happens when no summary can be had: the history stays while it fits, or is compacted without a model at once. */
  onFailure: z.enum(["keep", "placeholder"]).optional(),
  /** A text to ask for the summary with, instead of ours. */
  prompt: z.string().min(1).max(20_000).optional(),
});
export type CompactionConfig = z.infer<typeof CompactionConfig>;
