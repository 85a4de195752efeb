import type { SummarySource } from "./compaction.js";

/** The category of an item in a report of token usage. */
export type ItemKind =
  | "instructions"
  | "tools"
  | "context"
  | "pinned"
  | "summary"
  | "user"
  | "assistant"
  | "reasoning"
  | "tool_call"
  | "tool_output"
  | "other";

/** The share of the context window that one item takes. */
export interface ItemSize {
  readonly kind: ItemKind;
  readonly tokens: number;
  /** The item's first line, at most 80 characters. */
  readonly text: string;
}

/** The content of the context window, and how much of it is used. */
export interface ContextUsage {
  readonly model: string;
  readonly window: number;
  /** True for a model whose context window is unknown. */
  readonly isAssumedWindow: boolean;
  /** The history is compacted when it has more tokens than this. */
  readonly limit: number;
  readonly tokens: number;
  readonly items: readonly ItemSize[];
}

/** The effect of a compaction, computed without calling a model. */
export interface CompactionPreview {
  readonly strategy: string;
  readonly tokensBefore: number;
  /** Does not include the summary, whose length is not known in advance. */
  readonly tokensAfter: number;
  readonly window: number;
  readonly limit: number;
  /** In order. An item of kind `summary` marks the place of the new summary. */
  readonly kept: readonly ItemSize[];
  readonly dropped: readonly ItemSize[];
}

/**
 * The result of a requested compaction. `kept`: there was nothing to do, or no summary could be made, and the history
 * is unchanged.
 */
export type CompactionOutcome =
  | {
      readonly status: "compacted";
      readonly strategy: string;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly summary: string;
      readonly source: SummarySource;
      /** The number of old items left out of the model's summary request, because they did not fit. */
      readonly truncatedCount: number;
    }
  | { readonly status: "kept"; readonly reason: string }
  | { readonly status: "aborted" };
