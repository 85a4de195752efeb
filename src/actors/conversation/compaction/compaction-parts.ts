import type { EffectiveCompaction } from "../../../config/settings/compaction-settings.js";
import type { ContextWindow } from "../../../config/models/model-windows.js";
import type { CompactionStrategy } from "../../../compaction/strategy.js";
import type { CompactorAnswers, CompactorOp } from "../../compactor/compactor.js";
import type { SummaryBy } from "../../compactor/summarizer.js";
import type { TokenCounts } from "../../compactor/token-counts.js";
import type { Ref } from "../../runtime/actor.js";
import type { Settings } from "../state/settings.js";
import type { StoredLines } from "../store/store.js";

/** What compacting a history takes from outside its conversation. */
export interface CompactionParts {
  readonly compactor: Ref<CompactorOp, CompactorAnswers>;
  readonly counts: TokenCounts;
  readonly settings: EffectiveCompaction;
  /** By name: ours and those that were injected. */
  readonly strategies: ReadonlyMap<string, CompactionStrategy>;
  window(settings: Settings): ContextWindow;
  /** The number of tokens above which the history is compacted, for the model of a turn. */
  limit(settings: Settings): number;
  /** Who summarizes for such a turn. */
  summaryBy(settings: Settings): SummaryBy;
  /** The lines of the conversation as they were saved. */
  savedLines(): StoredLines;
}
