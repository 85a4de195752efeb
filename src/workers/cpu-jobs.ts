import type { Encoding } from "../compaction/tokens/encoding-of.js";
import type { UndoOutcome } from "../changes/restore/undo-turn.js";
import type { StoredChanges, SnapshotOutcome, SnapshotPlaces, SnapshotRequest } from "../changes/workspace/snapshot.js";
import type { TurnDiff } from "../messages/tools/diff.js";
import type { ResponseItem } from "../messages/response-item.js";
import type { LineRange } from "../rollouts/file/raw-lines.js";

/** The jobs of the pool for computation. */
export type CpuJobs = {
  readonly count_tokens: {
    readonly input: { readonly texts: readonly string[]; readonly encoding: Encoding };
    readonly output: { readonly counts: readonly number[] };
  };
  readonly condense_rollout: {
    readonly input: RolloutSegment;
    readonly output: CondensedRollout<Uint8Array>;
  };
  readonly extract_summary: {
    readonly input: { readonly items: readonly ResponseItem[]; readonly previousSummary?: string | undefined };
    readonly output: { readonly text: string };
  };
  /** Runs before the first change of a turn. */
  readonly take_snapshot: { readonly input: SnapshotRequest; readonly output: SnapshotOutcome };
  /** Runs at the end of the turn. */
  readonly end_snapshot: { readonly input: SnapshotRequest; readonly output: StoredChanges | undefined };
  readonly diff_changes: {
    readonly input: { readonly changes: Pick<StoredChanges, "files" | "folders">; readonly maxChars: number };
    readonly output: TurnDiff;
  };
  readonly undo_turn: {
    readonly input: { readonly places: SnapshotPlaces; readonly now: number };
    readonly output: UndoOutcome;
  };
};

/** A range of lines of a rollout. */
export interface RolloutSegment {
  readonly path: string;
  readonly conversationId: string;
  readonly range: LineRange;
  /** If set, this many bytes of the file are the beginning of another conversation, which has its own first line. */
  readonly beginning?: number | undefined;
  /** Whether the history seems to be replaced as a whole after this range. */
  readonly replaced: boolean;
  /** Whether the transcript needs displayed lines even if the history was replaced. */
  readonly shows: boolean;
}

/** The relevant lines of a range. Damage is returned as data, because errors lose their fields between threads. */
export type CondensedRollout<Piece> =
  | {
      readonly status: "read";
      /** Lines for the transcript that come before `pieces` and were left out of it. */
      readonly shown: readonly Piece[];
      /** Unvalidated lines in order, in lists that are each quick to read; packed when sent between threads. */
      readonly pieces: readonly Piece[];
      /** The number of lines, and the number of bytes in the complete ones. */
      readonly lines: number;
      readonly bytes: number;
      /** Whether lines were left out, because the history seems to be replaced as a whole. */
      readonly replaced: boolean;
    }
  /** The line number is relative to the beginning of the range. */
  | { readonly status: "corrupted"; readonly line: number; readonly detail: string }
  /**
   * The lines are not in Codex's format. Each depends on those before it, so the caller must read all of them in order.
   */
  | { readonly status: "other_form" };
