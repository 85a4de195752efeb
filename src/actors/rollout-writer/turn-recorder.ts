import type { ConversationMetadata } from "../../rollouts/list/conversation-metadata.js";
import type { RolloutTurn } from "../../rollouts/turns.js";

export interface CompactionRecord {
  timestamp: number;
  summary: string;
  /** How many old items had to be dropped before the summary could be made. */
  truncatedCount: number;
}

/** A compaction as `readRollout` may return it. */
export interface RecordedCompaction extends CompactionRecord {
  type: "compacted";
}

/**
 * Where whole turns are kept; anything of this shape can take the place of files. A turn must come back with its
 * `metadata`: when `metadata.replaces` is true, its items are the whole history from there on.
 */
export interface TurnRecorder {
  appendTurn(conversationId: string, turn: RolloutTurn): Promise<void>;
  /** What was appended, in order; the records of `appendCompacted` may be among the turns, or left out. */
  readRollout(conversationId: string): Promise<readonly (RolloutTurn | RecordedCompaction)[]>;
  list(): Promise<ConversationMetadata[]>;
  /** Called for each compaction, before the turn that has the new history. */
  appendCompacted?(conversationId: string, record: CompactionRecord): Promise<void>;
  /** Whether the turn with the new history is enough to restore a compaction, so that `appendCompacted` is not called for it. */
  readonly keepsReplacements?: boolean;
}
