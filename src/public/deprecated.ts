import type { MockLlm, MockLlmOptions } from "./testing.js";

/** The names that `cody` exported before they moved to subpaths; they stay until 1.0. */
export {
  /** @deprecated Import it from "cody/compaction". */
  AUTO_COMPACT_TOKEN_LIMIT,
  /** @deprecated Import it from "cody/compaction". */
  COMPACT_TARGET,
  /** @deprecated Import it from "cody/compaction". */
  KEEP_RECENT_TOKENS,
  /** @deprecated Import it from "cody/compaction". */
  KEEP_TURNS,
  /** @deprecated Import it from "cody/compaction". */
  MAX_SUMMARY_TOKENS,
  /** @deprecated Import it from "cody/compaction". */
  MIN_CUT_TOKENS,
  /** @deprecated Import it from "cody/compaction". */
  RESERVE_TOKENS,
  /** @deprecated Import it from "cody/compaction". */
  SUMMARY_UNAVAILABLE,
  /** @deprecated Import it from "cody/compaction". */
  compactionStrategies,
  /** @deprecated Import it from "cody/compaction". */
  extractSummary,
  /** @deprecated Import it from "cody/compaction". */
  initialContext,
  /** @deprecated Import it from "cody/compaction". */
  isPlaceholder,
  /** @deprecated Import it from "cody/compaction". */
  isSafeCut,
  /** @deprecated Import it from "cody/compaction". */
  limitOf,
  /** @deprecated Import it from "cody/compaction". */
  missingFrom,
  /** @deprecated Import it from "cody/compaction". */
  mustKeep,
  /** @deprecated Import it from "cody/compaction". */
  repairedSummary,
  /** @deprecated Import it from "cody/compaction". */
  strategyFor,
  /** @deprecated Import it from "cody/compaction". */
  summaryInput,
  /** @deprecated Import it from "cody/compaction". */
  summaryPrompt,
  /** @deprecated Import it from "cody/compaction". */
  trimToTarget,
  /** @deprecated Import it from "cody/compaction". */
  type CompactionPlan,
  /** @deprecated Import it from "cody/compaction". */
  type CountItem,
  /** @deprecated Import it from "cody/compaction". */
  type MustKeep,
  /** @deprecated Import it from "cody/compaction". */
  type StrategyInput,
  /** @deprecated Import it from "cody/compaction". */
  type StrategySettings,
  /** @deprecated Import it from "cody/compaction". */
  type SummaryInputBounds,
  /** @deprecated Import it from "cody/compaction". */
  type SummaryPromptInput,
  /** @deprecated Import it from "cody/compaction". */
  type TriggerInput,
} from "./compaction.js";

export {
  /** @deprecated Import it from "cody/rollouts". */
  TrashBin,
  /** @deprecated Import it from "cody/rollouts". */
  conversationPlaces,
  /** @deprecated Import it from "cody/rollouts". */
  exportFormats,
  /** @deprecated Import it from "cody/rollouts". */
  importFormats,
  /** @deprecated Import it from "cody/rollouts". */
  isMessageComplete,
  /** @deprecated Import it from "cody/rollouts". */
  runRetention,
  /** @deprecated Import it from "cody/rollouts". */
  type ConversationPlaces,
  /** @deprecated Import it from "cody/rollouts". */
  type DeleteOptions,
  /** @deprecated Import it from "cody/rollouts". */
  type FlaggedMessage,
  /** @deprecated Import it from "cody/rollouts". */
  type RetentionReport,
  /** @deprecated Import it from "cody/rollouts". */
  type RetentionRun,
  /** @deprecated Import it from "cody/rollouts". */
  type RetentionSettings,
  /** @deprecated Import it from "cody/rollouts". */
  type TrashBinParts,
  /** @deprecated Import it from "cody/rollouts". */
  type Trashed,
  /** @deprecated Import it from "cody/rollouts". */
  type TrashReason,
} from "./rollouts.js";

export {
  /** @deprecated Import it from "cody/testing". */
  MockCall,
  /** @deprecated Import it from "cody/testing". */
  MockFault,
  /** @deprecated Import it from "cody/testing". */
  MockReply,
  /** @deprecated Import it from "cody/testing". */
  MockScript,
} from "../mock-llm/script.js";

export {
  /** @deprecated Import it from "cody/testing". */
  offlineProvider,
  /** @deprecated Import it from "cody/testing". */
  type OfflineOptions,
} from "../providers/offline/provider.js";

export type {
  /** @deprecated Import it from "cody/testing". */
  LoggedRequest,
  /** @deprecated Import it from "cody/testing". */
  MockLlm,
  /** @deprecated Import it from "cody/testing". */
  MockLlmOptions,
} from "./testing.js";

/** @deprecated Import it from "cody/testing". The server is loaded by the call, so that `cody` does not contain it. */
export async function startMockLlm(options: MockLlmOptions = {}): Promise<MockLlm> {
  const testing = await import("./testing.js");
  return await testing.startMockLlm(options);
}
