import * as z from "zod";
import { CompactionPreview, CompactionTrigger, ItemSize, SummarySource } from "../compaction.js";
import { WireApi } from "../settings/config.js";
import { Failure } from "../failure.js";
import { ResponseItem } from "../response-item.js";
import { RolloutLine } from "../rollout-line.js";
import { TokenUsage } from "../token-usage.js";

const count = z.number().int().nonnegative();

/** Where the compactor finds a history: in the message itself, or in a rollout that only its jobs read. */
export const HistorySource = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("items"), items: z.array(ResponseItem).readonly() }),
  z.object({
    kind: z.literal("rollout"),
    path: z.string(),
    /** The length of the part of the file that is written. */
    bytes: count,
    /** The lines after that part. */
    tail: z.array(RolloutLine).readonly(),
    /** The number of items in the history. A file with another number has been changed, and is refused. */
    length: count,
  }),
]);
export type HistorySource = z.infer<typeof HistorySource>;
export type RolloutSource = Extract<HistorySource, { kind: "rollout" }>;

/** The facts that a conversation has about the size of its next request. */
export const ContextFacts = z.object({
  /** The model that plays the turn. */
  model: z.string(),
  window: count,
  isAssumedWindow: z.boolean(),
  /** The history is compacted above this number of tokens. */
  limit: count,
  /** Tokens of the system prompt and the tools. */
  overhead: count,
  /** The ratio of the provider's token count to ours. */
  ratio: z.number().positive(),
  /** The tokens that the provider reported for the overhead and the first `items` items. */
  reported: z.object({ tokens: count, items: count }).optional(),
});
export type ContextFacts = z.infer<typeof ContextFacts>;

/** A model, and what is needed to find its provider. The compactor resolves the credential when it sends a request. */
export const ModelTarget = z.object({
  provider: z.string(),
  model: z.string(),
  api: WireApi.optional(),
  baseUrl: z.string().optional(),
  login: z.enum(["chatgpt", "claude"]).optional(),
  effort: z.string().nullable(),
});
export type ModelTarget = z.infer<typeof ModelTarget>;

/** How a summary is requested from a model. */
export const SummaryOptions = z.object({
  target: ModelTarget,
  systemPrompt: z.string(),
  /** The user's instructions for the summary. */
  instructions: z.string().optional(),
  /** A longer answer is stopped and counts as failed. */
  maxBytes: count,
});
export type SummaryOptions = z.infer<typeof SummaryOptions>;

const FileLists = z.object({
  readFiles: z.array(z.string()).readonly(),
  modifiedFiles: z.array(z.string()).readonly(),
});

/**
 * A history at one point in time. The conversation increments `generation` whenever the history is replaced and not
 * only extended; counts and summaries of an older generation are dropped.
 */
const history = { conversationId: z.string(), generation: count, history: HistorySource, context: ContextFacts };

/** Messages to the compactor. */
export const CompactorOp = z.discriminatedUnion("type", [
  /** Counts the items exactly; answered by the event `counted`. */
  z.object({ type: z.literal("count"), ...history }),
  /** Answers with the size of every item. */
  z.object({ type: z.literal("usage"), ...history }),
  /** Answers with the plan of a compaction. Without `strategy`, the configured one is used, or that of the model. */
  z.object({
    type: z.literal("plan"),
    ...history,
    strategy: z.string().optional(),
    /** A request was too long, so the model's real window is smaller than assumed. */
    isUrgent: z.boolean().optional(),
    /** Counts the items that decide whether the limit is exceeded; otherwise the tokens may be estimated. */
    isMeasured: z.boolean().optional(),
  }),
  /** Answers with what a compaction would keep and drop. */
  z.object({ type: z.literal("preview"), ...history, strategy: z.string().optional() }),
  /** Makes a compaction and answers with the new history, which the conversation applies. */
  z.object({
    type: z.literal("summarize"),
    ...history,
    strategy: z.string().optional(),
    summary: SummaryOptions,
    trigger: CompactionTrigger.exclude(["undo"]),
    /** The next request cannot be sent otherwise, so an extracted summary is used if the model makes none. */
    isUrgent: z.boolean(),
    /** Uses the prepared summary if there is one, and waits for it if it is still being made. */
    usesPrepared: z.boolean(),
    /** The files that earlier compactions have listed. */
    files: FileLists,
  }),
  /** Asks a model for a summary of some items, without a plan. */
  z.object({
    type: z.literal("summarize_items"),
    conversationId: z.string(),
    items: z.array(ResponseItem).readonly(),
    summary: SummaryOptions,
  }),
  /** Begins a summary ahead of time; answers with null if there is nothing to prepare. Its end is an event. */
  z.object({ type: z.literal("prepare"), ...history, summary: SummaryOptions }),
  /** Starts the threads of a compaction that is likely to follow, so that it need not wait for them. */
  z.object({ type: z.literal("start_threads"), model: z.string(), target: ModelTarget }),
  /** Drops everything about a conversation and aborts its prepared summary. */
  z.object({ type: z.literal("forget"), conversationId: z.string() }),
]);
export type CompactorOp = z.infer<typeof CompactorOp>;

const failed = z.object({ status: z.literal("failed"), reason: z.string() });

const HistoryUsage = z.discriminatedUnion("status", [
  z.object({ status: z.literal("measured"), tokens: count, items: z.array(ItemSize).readonly() }),
  failed,
]);

const PlanAnswer = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("planned"),
    strategy: z.string(),
    /** Items before this place are summarized or dropped; 0 if there is nothing to compact. */
    cut: count,
    needsSummary: z.boolean(),
    tokensBefore: count,
  }),
  failed,
]);
export type PlanAnswer = z.infer<typeof PlanAnswer>;

const PreviewAnswer = z.discriminatedUnion("status", [
  z.object({ status: z.literal("planned"), preview: CompactionPreview }),
  failed,
]);

/** `truncatedCount` is the number of oldest items that were left out because they did not fit. */
export const SummaryOutcome = z.discriminatedUnion("status", [
  /** The text may be empty. */
  z.object({
    status: z.literal("done"),
    text: z.string(),
    truncatedCount: count,
    usage: TokenUsage.optional(),
  }),
  /** The newest item alone exceeds the model's context window. */
  z.object({ status: z.literal("too_large"), truncatedCount: count }),
  z.object({ status: z.literal("failed"), failure: Failure, truncatedCount: count }),
  z.object({ status: z.literal("aborted") }),
]);
export type SummaryOutcome = z.infer<typeof SummaryOutcome>;

/** A new history and how it was made. */
export const BuiltCompaction = z.object({
  strategy: z.string(),
  tokensBefore: count,
  tokensAfter: count,
  summary: z.string(),
  /**
   * New items, and places of items in the old history that stay. Kept items are named by their place, because a rollout
   * may contain them without their secrets.
   */
  items: z.array(z.union([count, ResponseItem])).readonly(),
  files: FileLists,
});
export type BuiltCompaction = z.infer<typeof BuiltCompaction>;

/** Warnings are for the user, in order. */
const warnings = z.array(z.string()).readonly();

export const CompactionResult = z.discriminatedUnion("status", [
  BuiltCompaction.extend({
    status: z.literal("compacted"),
    source: SummarySource,
    truncatedCount: count,
    /** The token usage of the summary. */
    usage: TokenUsage.optional(),
    warnings,
  }),
  z.object({ status: z.literal("kept"), reason: z.string(), warnings }),
  z.object({ status: z.literal("aborted") }),
]);
export type CompactionResult = z.infer<typeof CompactionResult>;

/** The preparation that has begun; null if there was nothing to prepare. */
const PrepareAnswer = z.object({ strategy: z.string(), cut: count, tokens: count }).nullable();

/** The answer to each op that has one. */
export const compactorAnswers = {
  usage: HistoryUsage,
  plan: PlanAnswer,
  preview: PreviewAnswer,
  summarize: CompactionResult,
  summarize_items: SummaryOutcome,
  prepare: PrepareAnswer,
} satisfies { readonly [T in CompactorOp["type"]]?: z.ZodType };
export type CompactorAnswers = { readonly [T in keyof typeof compactorAnswers]: z.infer<(typeof compactorAnswers)[T]> };

/** Events of the compactor, for the conversation they name. */
export const CompactorEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("counted"),
    conversationId: z.string(),
    generation: count,
    model: z.string(),
    /** The place after the items that the provider has counted. */
    from: count,
    /** The number of items that `tokens` covers. */
    items: count,
    /** Our exact count of the items from `from` to `items`, not corrected by the ratio. */
    added: count,
    /** The tokens of a request with these items. */
    tokens: count,
  }),
  /** A summary of the items before `cut` is ready. */
  z.object({ type: z.literal("prepared"), conversationId: z.string(), generation: count, cut: count }),
  /** No summary could be prepared. */
  z.object({
    type: z.literal("compaction_failed"),
    conversationId: z.string(),
    generation: count,
    cut: count,
    reason: z.string(),
  }),
]);
export type CompactorEvent = z.infer<typeof CompactorEvent>;
