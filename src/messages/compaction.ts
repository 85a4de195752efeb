import * as z from "zod";

const count = z.number().int().nonnegative();

/** The name of a built-in or injected strategy. */
export const StrategyName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "a strategy's name must be a lower-case word");

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
