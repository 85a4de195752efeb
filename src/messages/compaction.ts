import * as z from "zod";

const count = z.number().int().nonnegative();

/** The name of a built-in or injected strategy. */
export const StrategyName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "a strategy is a lower-case word");

/** The reason a history was compacted. `undo` restores the history before a compaction. */
export const CompactionTrigger = z.enum(["auto", "manual", "overflow", "undo"]);
export type CompactionTrigger = z.infer<typeof CompactionTrigger>;

/** The origin of a summary: a model, or facts extracted from the history without one. */
export const SummarySource = z.enum(["model", "extracted"]);
export type SummarySource = z.infer<typeof SummarySource>;

/** Our fields of a compaction record, besides Codex's. */
export const CompactionNotes = z.object({
  trigger: CompactionTrigger,
  strategy: z.string(),
  source: SummarySource,
  tokens_before: count,
  tokens_after: count,
  items_before: count,
  items_after: count,
  /** The number of old items left out of the model's summary request, because they did not fit. */
  truncated_count: count,
  /** The files read and modified since the conversation began, by the names the tools used. */
  read_files: z.array(z.string()),
  modified_files: z.array(z.string()),
});
export type CompactionNotes = z.infer<typeof CompactionNotes>;

const tokens = z.number().int().positive();

/** Thresholds for compacting a history. The smallest of the limits that are set applies. */
export const CompactionThresholds = z.strictObject({
  /** The fraction of the window above which the history is compacted. */
  ratio: z.number().positive().max(1).optional(),
  tokenLimit: tokens.optional(),
  /** The number of tokens that must stay free; values above half the window are reduced to half. */
  reserveTokens: tokens.optional(),
});

/** When and how histories are compacted; all of it optional. */
export const CompactionConfig = z.strictObject({
  enabled: z.boolean().optional(),
  strategy: StrategyName.optional(),
  /** `blocking` makes a summary when it is needed; `background` makes it earlier, while turns run. */
  mode: z.enum(["blocking", "background"]).optional(),
  ...CompactionThresholds.shape,
  /** The number of recent tokens that `recent-tokens` keeps unchanged. */
  keepRecentTokens: tokens.optional(),
  /** The number of recent turns that `recent-turns` keeps unchanged. */
  keepTurns: z.number().int().positive().max(1000).optional(),
  /** The number of tokens of user messages that `codex` keeps. */
  userMessageTokens: tokens.optional(),
  /** The tool results that survive a compaction: all that fit, those of kept turns, or none. */
  preserveToolResults: z.enum(["all", "recent", "none"]).optional(),
  /** If no summary can be made: `keep` keeps the history while it fits, `placeholder` compacts without a model. */
  onFailure: z.enum(["keep", "placeholder"]).optional(),
  /** Replaces cody's own prompt for the summary. */
  prompt: z.string().min(1).max(20_000).optional(),
});
export type CompactionConfig = z.infer<typeof CompactionConfig>;
