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

/** The category of an item in a report of token usage. */
export const ItemKind = z.enum([
  "instructions",
  "tools",
  "context",
  "pinned",
  "summary",
  "user",
  "assistant",
  "reasoning",
  "tool_call",
  "tool_output",
  "other",
]);
export type ItemKind = z.infer<typeof ItemKind>;

/** The share of the context window that one item takes. */
export const ItemSize = z
  .object({
    kind: ItemKind,
    tokens: count,
    /** The item's first line, at most 80 characters. */
    text: z.string(),
  })
  .readonly();
export type ItemSize = z.infer<typeof ItemSize>;

const itemSizes = z.array(ItemSize).readonly();

/** The content of the context window, and how much of it is used. */
export const ContextUsage = z
  .object({
    model: z.string(),
    window: count,
    /** True for a model whose context window is unknown. */
    isAssumedWindow: z.boolean(),
    /** The history is compacted when it has more tokens than this. */
    limit: count,
    tokens: count,
    items: itemSizes,
  })
  .readonly();
export type ContextUsage = z.infer<typeof ContextUsage>;

/** The effect of a compaction, computed without calling a model. */
export const CompactionPreview = z
  .object({
    strategy: z.string(),
    tokensBefore: count,
    /** Does not include the summary, whose length is not known in advance. */
    tokensAfter: count,
    window: count,
    limit: count,
    /** In order. An item of kind `summary` marks the place of the new summary. */
    kept: itemSizes,
    dropped: itemSizes,
  })
  .readonly();
export type CompactionPreview = z.infer<typeof CompactionPreview>;

/**
 * The result of a requested compaction. `kept`: there was nothing to do, or no summary could be made, and the history
 * is unchanged.
 */
export const CompactionOutcome = z
  .discriminatedUnion("status", [
    z.object({
      status: z.literal("compacted"),
      strategy: z.string(),
      tokensBefore: count,
      tokensAfter: count,
      summary: z.string(),
      source: SummarySource,
      /** The number of old items left out of the model's summary request, because they did not fit. */
      truncatedCount: count,
    }),
    z.object({ status: z.literal("kept"), reason: z.string() }),
    z.object({ status: z.literal("aborted") }),
  ])
  .readonly();
export type CompactionOutcome = z.infer<typeof CompactionOutcome>;
