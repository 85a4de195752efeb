import { entryUrl } from "./entry-url.js";
import type { IoJobs } from "./io-jobs.js";
import { Pool, type PoolOptions } from "./pool.js";

export type IoPool = Pool<IoJobs>;

const mebibyte = 1024 * 1024;

export const ioPoolLimits: Omit<PoolOptions<IoJobs>, "entry"> = {
  threads: 2,
  jobsPerThread: 8,
  maxHeapMb: 512,
  idleMs: 30_000,
  deadlineMs: { summarize: 120_000 },
  graceMs: 2_000,
  maxWaiting: 64,
  maxJobBytes: 16 * mebibyte,
  maxBytes: 64 * mebibyte,
};

/**
 * Opens the pool for jobs that mostly wait. It is separate, because a token count must not queue behind a model's
 * answer.
 */
export function openIoPool(): IoPool {
  return new Pool<IoJobs>({
    ...ioPoolLimits,
    get entry() {
      return entryUrl("io");
    },
  });
}
