import type { ResponseItem } from "../messages/response-item.js";

/** Returns the token count of an item: exact where it is known, otherwise an estimate. */
export type CountItem = (item: ResponseItem) => number;

/** The compaction settings that strategies read. */
export interface StrategySettings {
  readonly keepRecentTokens: number;
  readonly keepTurns: number;
  readonly userMessageTokens: number;
  readonly preserveToolResults: "all" | "recent" | "none";
}

export interface StrategyInput {
  readonly history: readonly ResponseItem[];
  readonly settings: StrategySettings;
  /** Token limit of the new history, not counting instructions and tools. */
  readonly targetTokens: number;
  readonly count: CountItem;
  /**
   * Everything before this place is summarized or dropped; everything after it stays verbatim. Must be a safe cut
   * (`isSafeCut`) of the history at the time it was chosen. If undefined, the strategy chooses one.
   */
  readonly cut?: number;
}

export interface CompactionPlan {
  /**
   * Items before this place are replaced by the summary and the items kept from them; items from here on stay
   * verbatim.
   */
  readonly cut: number;
  /** The items to summarize, which no earlier summary covers. */
  readonly toSummarize: readonly ResponseItem[];
  /** Text of the earlier summary, without its label and file lists. */
  readonly previousSummary: string | undefined;
  /** False for strategies that need no model; their `build` ignores its argument. */
  readonly needsSummary: boolean;
  /** Builds the new history. The summary is plain text without a label and already contains the file lists. */
  build(summary: string): ResponseItem[];
}

/** Decides what the model keeps seeing. The built-in ones are in `strategies`; others may be injected. */
export interface CompactionStrategy {
  readonly name: string;
  /** Prefix of the summary item's text. Readers recognize a summary by its flag, not by this label. */
  readonly label: string;
  /** The first sentences of the prompt that requests the summary. */
  readonly prompt: string;
  /**
   * Whether the cut and the items to summarize depend only on the kinds of the items, and not on their sizes. Then the
   * summary is requested while the items are being counted.
   */
  readonly isCutFixed?: boolean;
  plan(input: StrategyInput): CompactionPlan;
}
