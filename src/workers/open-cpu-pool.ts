import { availableParallelism } from "node:os";
import type { CpuJobs } from "./cpu-jobs.js";
import { entryUrl } from "./entry-url.js";
import { hasThreadPriority } from "./give-way.js";
import { Pool } from "./pool.js";

export type CpuPool = Pool<CpuJobs>;

const mebibyte = 1024 * 1024;
/** A tokenizer takes a hundred megabytes in each thread. */
const maxThreads = 4;

/** Opens the pool for computation. It starts no thread before the first job. */
export function openCpuPool(): CpuPool {
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
      count_tokens: 30_000,
      condense_rollout: 60_000,
      extract_summary: 10_000,
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
