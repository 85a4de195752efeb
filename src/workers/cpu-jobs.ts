import type { Encoding } from "../compaction/tokens/encoding-of.js";
import type { UndoOutcome } from "../changes/restore/undo-turn.js";
import type { KeptChanges, SnapshotOutcome, SnapshotPlaces, SnapshotRequest } from "../changes/workspace/snapshot.js";
import type { TurnDiff } from "../messages/diff.js";
import type { ResponseItem } from "../messages/response-item.js";
import type { LineRange } from "../rollouts/file/raw-lines.js";

/** What the pool for computing can do. */
export type CpuJobs = {
  readonly count_tokens: {
    readonly input: { readonly texts: readonly string[]; readonly encoding: Encoding };
    readonly output: { readonly counts: readonly number[] };
  };
  readonly condense_rollout: {
    readonly input: RolloutStretch;
    readonly output: CondensedRollout<Uint8Array>;
  };
  readonly extract_summary: {
    readonly input: { readonly items: readonly ResponseItem[]; readonly previousSummary?: string | undefined };
    readonly output: { readonly text: string };
  };
  /** Before the first change of a turn. */
  readonly take_snapshot: { readonly input: SnapshotRequest; readonly output: SnapshotOutcome };
  /** When the turn is over. */
  readonly end_snapshot: { readonly input: SnapshotRequest; readonly output: KeptChanges | undefined };
  readonly diff_changes: {
    readonly input: { readonly changes: Pick<KeptChanges, "files" | "folders">; readonly maxChars: number };
    readonly output: TurnDiff;
  };
  readonly undo_turn: {
    readonly input: { readonly places: SnapshotPlaces; readonly now: number };
    readonly output: UndoOutcome;
  };
};

/** Some of the lines of a rollout. */
export interface RolloutStretch {
  readonly path: string;
  readonly conversationId: string;
  readonly range: LineRange;
  /** Only so many of its bytes are another conversation's beginning, which has a first line of its own. */
  readonly beginning?: number | undefined;
  /** Whether it looks as if the history is replaced as a whole somewhere behind it. */
  readonly replaced: boolean;
  /** Whether lines that are shown to a person matter although the history was replaced. */
  readonly shows: boolean;
}

/** What matters of a stretch; errors lose their fields on the way, so damage is data. */
export type CondensedRollout<Piece> =
  | {
      readonly status: "read";
      /** Lines that were left out of `pieces` and stand before what is left of it, for the transcript. */
      readonly shown: readonly Piece[];
      /** Unchecked lines in order, in lists none of which takes long to read; between threads they are packed. */
      readonly pieces: readonly Piece[];
      /** How many lines there were, and how many bytes the whole ones of them are. */
      readonly lines: number;
      readonly bytes: number;
      /** Whether lines were left out, because it looks as if the history was replaced as a whole. */
      readonly replaced: boolean;
    }
  /** The line is counted from the beginning of the stretch. */
  | { readonly status: "corrupted"; readonly line: number; readonly detail: string }
  /** What a line in another form than Codex's says depends on those before it, so this is for who reads all of them. */
  | { readonly status: "other_form" };
