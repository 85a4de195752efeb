/** `cody/compaction`: the pure functions and numbers that a compaction is made of. */
export { buildCompactedHistory } from "../compaction/summary/summary-text.js";
export { collectUserMessages } from "../compaction/item-kinds.js";
export * from "../compaction/constants.js";
export { type CutPointResult, findCutPoint } from "../compaction/cut/choose-cut.js";
export { isSafeCut } from "../compaction/cut/safe-cut.js";
export { selectRecentMessages } from "../compaction/cut/cut-item.js";
export { trimToTarget } from "../compaction/cut/trim-to-target.js";
export { truncateMiddle } from "../compaction/cut/cut-item.js";
export { initialContext } from "../compaction/item-kinds.js";
export { needsCompaction, shouldCompact } from "../compaction/tokens/compaction-threshold.js";
export type {
  CompactionPlan,
  CompactionStrategy,
  CountItem,
  StrategyInput,
  StrategySettings,
} from "../compaction/strategy.js";
export { strategies as compactionStrategies, strategyFor } from "../compaction/strategy-for.js";
export { extractSummary } from "../compaction/summary/extract-summary.js";
export {
  type CompactionDetails,
  extractFileOperations,
  formatFileOperations,
} from "../compaction/summary/file-operations.js";
export { missingFrom, type MustKeep, mustKeep, repairedSummary } from "../compaction/summary/must-keep.js";
export { summaryInput, type SummaryInputBounds } from "../compaction/summary/summary-prompt.js";
export { summaryPrompt, type SummaryPromptInput } from "../compaction/summary/summary-prompt.js";
export { isPlaceholder, SUMMARY_UNAVAILABLE } from "../compaction/summary/summary-text.js";
export { estimateTokens } from "../compaction/tokens/estimate-tokens.js";
export { limitOf, type TriggerInput } from "../compaction/tokens/compaction-threshold.js";
