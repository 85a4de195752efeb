import { availableParallelism } from "node:os";
import type { UndoOutcome } from "../changes/restore/restore.js";
import type { StoredChanges, SnapshotOutcome, SnapshotPlaces, SnapshotRequest } from "../changes/workspace/snapshot.js";
import { type Encoding, encodingOf, splitText } from "../compaction/tokens/estimate-tokens.js";
import type { ExactPart } from "../compaction/plan-compaction.js";
import type { BuiltCompaction } from "../messages/actors/compactor.js";
import type { ResponseItem } from "../messages/response-item.js";
import type { TurnDiff } from "../messages/tools/diff.js";
import type { LineRange } from "../rollouts/file/lines.js";
import { entryUrl } from "./entry-url.js";
import { hasThreadPriority, type JobOutcome } from "./jobs.js";
import type { StoredBuild, StoredHistory, StoredPlan, StoredPlanFacts } from "./history-jobs.js";
import { Pool } from "./pool.js";

/** Sending this much takes a fraction of a millisecond, counting its tokens about fifty. */
const maxJobChars = 256 * 1024;

/** Concurrent jobs of one count: enough for every thread, and jobs of others can run in between. */
const maxParallelJobs = 4;

/** Runs jobs of the pool for computation, in this process or through a port. */
export type CpuPool = Pick<Pool<CpuJobs>, "run">;

const mebibyte = 1024 * 1024;
/** Each thread takes tens of megabytes. */
const maxThreads = 4;

/** Opens the pool for computation. It starts no thread before the first job. */
export function openCpuPool(): Pool<CpuJobs> {
  return new Pool<CpuJobs>({
    get entry() {
      return entryUrl("cpu");
    },
    threads: Math.min(Math.max(usableCores(), 1), maxThreads),
    jobsPerThread: 1,
    maxHeapMb: 1024,
    // Nearly everything that a job allocates becomes garbage at once: a larger young generation costs memory and is not
    // faster.
    maxYoungHeapMb: 8,
    idleMs: 30_000,
    deadlineMs: {
      load_encoding: 10_000,
      count_tokens: 30_000,
      condense_rollout: 60_000,
      extract_summary: 10_000,
      count_history: 60_000,
      plan_compaction: 30_000,
      build_compaction: 30_000,
      take_snapshot: 30_000,
      end_snapshot: 30_000,
      diff_changes: 20_000,
      undo_turn: 60_000,
    },
    maxWaiting: 256,
    maxJobBytes: 8 * mebibyte,
    maxBytes: 64 * mebibyte,
  });
}

/** Low-priority threads may use every core; otherwise one is left for the main thread. */
function usableCores(): number {
  return hasThreadPriority ? availableParallelism() : availableParallelism() - 1;
}

/** The jobs of the pool for computation. */
export type CpuJobs = {
  readonly load_encoding: { readonly input: { readonly encoding: Encoding }; readonly output: null };
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
  readonly count_history: {
    readonly input: StoredHistory & { readonly encoding: Encoding; readonly from: number };
    readonly output: readonly number[];
  };
  readonly plan_compaction: {
    readonly input: StoredPlan & { readonly exact: readonly ExactPart[] };
    readonly output: StoredPlanFacts;
  };
  readonly build_compaction: { readonly input: StoredBuild; readonly output: BuiltCompaction };
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

interface Part {
  readonly text: string;
  /** The index of the text it belongs to. */
  readonly index: number;
}

/** Counts the tokens of each text with the model's encoding, in the pool's threads. */
export async function countTokens(
  pool: CpuPool,
  texts: readonly string[],
  model: string,
): Promise<JobOutcome<readonly number[]>> {
  const encoding = encodingOf(model);
  const sums = texts.map(() => 0);
  const batches = batchesOf(texts).values();
  let failed: Extract<JobOutcome<never>, { ok: false }> | undefined;
  const worker = async (): Promise<void> => {
    for (const batch of batches) {
      if (failed !== undefined) return;
      const outcome = await pool.run("count_tokens", { texts: batch.map(({ text }) => text), encoding });
      if (!outcome.ok) failed = outcome;
      else
        for (const [at, { index }] of batch.entries())
          sums[index] = (sums[index] ?? 0) + (outcome.value.counts[at] ?? 0);
    }
  };
  await Promise.all(Array.from({ length: maxParallelJobs }, worker));
  return failed ?? { ok: true, value: sums };
}

/** Groups small texts and splits large ones, so that the jobs are of similar size. */
function batchesOf(texts: readonly string[]): Part[][] {
  const batches: Part[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const [index, whole] of texts.entries()) {
    for (const text of splitText(whole, maxJobChars)) {
      if (chars + text.length > maxJobChars) {
        batches.push([]);
        chars = 0;
      }
      batches.at(-1)?.push({ text, index });
      chars += text.length;
    }
  }
  return batches;
}
