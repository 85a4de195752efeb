import type { ConversationMetadata } from "../../rollouts/list/conversation-metadata.js";
import type { RolloutTurn } from "../../rollouts/turns.js";

export interface CompactionRecord {
  timestamp: number;
  summary: string;
  /** Number of old items that had to be dropped before the summary could be made. */
  truncatedCount: number;
}

/** A compaction as `readRollout` may return it. */
export interface RecordedCompaction extends CompactionRecord {
  type: "compacted";
}

/**
 * Stores whole turns; any object of this shape can replace files. A turn must be returned with its `metadata`: when
 * `metadata.replaces` is true, its items are the whole history from there on.
 */
export interface TurnRecorder {
  appendTurn(conversationId: string, turn: RolloutTurn): Promise<void>;
  /** Returns the appended turns in order; records of `appendCompacted` may be included or left out. */
  readRollout(conversationId: string): Promise<readonly (RolloutTurn | RecordedCompaction)[]>;
  list(): Promise<ConversationMetadata[]>;
  /** Called for each compaction, before the turn with the new history. */
  appendCompacted?(conversationId: string, record: CompactionRecord): Promise<void>;
  /**
   * Whether the turn with the new history is enough to restore a compaction, so that `appendCompacted` is not called
   * for it.
   */
  readonly keepsReplacements?: boolean;
}
