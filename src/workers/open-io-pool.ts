import { entryUrl } from "./entry-url.js";
import type { IoJobs } from "./io-jobs.js";
import { Pool } from "./pool.js";

const mebibyte = 1024 * 1024;

/** The pool for what mostly waits, apart from the other because a count must not wait behind a model's answer. */
export function openIoPool(): Pool<IoJobs> {
  return new Pool<IoJobs>({
    get entry() {
      return entryUrl("io");
    },
    threads: 2,
    jobsPerThread: 8,
    maxHeapMb: 512,
    idleMs: 30_000,
    deadlineMs: {},
    graceMs: 2_000,
    maxWaiting: 64,
    maxJobBytes: 16 * mebibyte,
    maxBytes: 64 * mebibyte,
  });
}
