import type { ResponseItem } from "../messages/response-item.js";

/** Knows how many tokens an item has: the exact number where it is known, else an estimate. */
export type CountItem = (item: ResponseItem) => number;

/** What a strategy needs of the settings. */
export interface StrategySettings {
  readonly keepRecentTokens: number;
  readonly keepTurns: number;
  readonly userMessageTokens: number;
  readonly preserveToolResults: "all" | "recent" | "none";
}

export interface StrategyInput {
  readonly history: readonly ResponseItem[];
  readonly settings: StrategySettings;
  /** What the new history may have, without instructions and tools. */
  readonly targetTokens: number;
  readonly count: CountItem;
  /**
   * Everything before here is summarized or dropped; what follows stays as it is. A safe cut (`isSafeCut`) of the
   * history as it was when the cut was chosen. Undefined: the strategy chooses.
   */
  readonly cut?: number;
}

export interface CompactionPlan {
  /** Items before this are replaced by what is kept of them and the summary; items from here on stay verbatim. */
  readonly cut: number;
  /** What the summary is about: items before the cut that no earlier summary covers. */
  readonly toSummarize: readonly ResponseItem[];
  /** The text of that earlier summary, without its label and its lists of files. */
  readonly previousSummary: string | undefined;
  /** False for strategies that need no model; they take no notice of the summary given to `build`. */
  readonly needsSummary: boolean;
  /** The new history. The summary is plain text without a label; the lists of files stand in it already. */
  build(summary: string): ResponseItem[];
}

/** Decides what the model keeps seeing. Ours are in `strategies`; others may be injected. */
export interface CompactionStrategy {
  readonly name: string;
  /** How the summary item begins. It is known as a summary by its flag, not by this. */
  readonly label: string;
  /** The first words of the prompt that asks for the summary. */
  readonly prompt: string;
  plan(input: StrategyInput): CompactionPlan;
}
