import type { CompactionTrigger } from "../../../messages/compaction.js";
import type { Prepared } from "../../compactor/compactor.js";
import type { Settings } from "../state/settings.js";

/** A request for a compaction. */
export interface CompactionRequest {
  readonly trigger: Exclude<CompactionTrigger, "undo">;
  readonly settings: Settings;
  readonly submissionId: string;
  /** The settings of the summarizing model, if it is not the turn's own. */
  readonly summarizer?: Settings | undefined;
  readonly strategy?: string | undefined;
  /** The user's instructions for the summary. */
  readonly instructions?: string | undefined;
  /** The next request cannot be sent otherwise, so an extracted summary is used if the model makes none. */
  readonly isUrgent: boolean;
  /** A summary of the beginning that was prepared earlier. */
  readonly prepared?: Prepared | undefined;
}
