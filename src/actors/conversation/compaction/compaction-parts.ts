import type { EffectiveCompaction } from "../../../config/settings/effective-settings.js";
import type { ContextWindow } from "../../../config/models/model-windows.js";
import type { CompactionStrategy } from "../../../compaction/strategy.js";
import type { CompactorAnswers, CompactorOp } from "../../compactor/compactor.js";
import type { SummaryProvider } from "../../compactor/summarizer.js";
import type { TokenCounts } from "../../compactor/token-counts.js";
import type { Ref } from "../../runtime/actor.js";
import type { Settings } from "../state/settings.js";
import type { StoredLines } from "../store/store.js";

/** The dependencies of compaction from outside the conversation. */
export interface CompactionParts {
  readonly compactor: Ref<CompactorOp, CompactorAnswers>;
  readonly counts: TokenCounts;
  readonly settings: EffectiveCompaction;
  /** The built-in and injected strategies, by name. */
  readonly strategies: ReadonlyMap<string, CompactionStrategy>;
  window(settings: Settings): ContextWindow;
  /** The number of tokens above which the history is compacted, for a turn's model. */
  limit(settings: Settings): number;
  /** Returns the model that summarizes for a turn with these settings. */
  summaryBy(settings: Settings): SummaryProvider;
  /** The conversation's saved lines. */
  savedLines(): StoredLines;
}
