import type { SummarySource } from "./compaction.js";

/** What an item is to somebody who asks where the tokens are. */
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

/** How much of the window one item takes. */
export interface ItemSize {
  readonly kind: ItemKind;
  readonly tokens: number;
  /** Its first line, at most 80 characters. */
  readonly text: string;
}

/** What the model sees now, and how much of it fits. */
export interface ContextUsage {
  readonly model: string;
  readonly window: number;
  /** True for a model whose window nobody has told us. */
  readonly isAssumedWindow: boolean;
  /** With more tokens than this the history is compacted. */
  readonly limit: number;
  readonly tokens: number;
  readonly items: readonly ItemSize[];
}

/** What a compaction would do, without having asked a model. */
export interface CompactionPreview {
  readonly strategy: string;
  readonly tokensBefore: number;
  /** Without the summary, whose length nobody knows before. */
  readonly tokensAfter: number;
  readonly window: number;
  readonly limit: number;
  /** In order; where an item has the kind `summary`, the summary will stand. */
  readonly kept: readonly ItemSize[];
  readonly dropped: readonly ItemSize[];
}

/** How an asked-for compaction ended. `kept`: there was nothing to do, or no summary could be had, and the history is as it was. */
export type CompactionOutcome =
  | {
      readonly status: "compacted";
      readonly strategy: string;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly summary: string;
      readonly source: SummarySource;
      /** How many old items the model did not see when it summarized, because they did not fit. */
      readonly truncatedCount: number;
    }
  | { readonly status: "kept"; readonly reason: string }
  | { readonly status: "aborted" };
