import type { CompactionTrigger } from "../../../messages/compaction.js";
import type { Prepared } from "../../compactor/compactor.js";
import type { Settings } from "../state/settings.js";

/** What is wanted of a compaction, and by whom. */
export interface CompactionWish {
  readonly trigger: Exclude<CompactionTrigger, "undo">;
  readonly settings: Settings;
  readonly submissionId: string;
  /** Who summarizes, when it is not who answers. */
  readonly summarizer?: Settings | undefined;
  readonly strategy?: string | undefined;
  /** What the summary should mind. */
  readonly instructions?: string | undefined;
  /** The next request cannot be sent otherwise: without a model's summary an extracted one must do. */
  readonly isUrgent: boolean;
  /** A summary of the beginning that is there already. */
  readonly prepared?: Prepared | undefined;
}
