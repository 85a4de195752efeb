import type { PoolOptions } from "../../src/workers/pool.js";
import type { FaultyJobs } from "./faulty-jobs.js";

/** One thread, one job at a time, and low limits. */
export const poolOptions: Omit<PoolOptions<FaultyJobs>, "entry"> = {
  threads: 1,
  jobsPerThread: 1,
  maxHeapMb: 64,
  idleMs: 10_000,
  deadlineMs: {
    echo: 20_000,
    thread: 20_000,
    environment: 20_000,
    throw: 20_000,
    fail: 20_000,
    exit: 20_000,
    uncaught: 20_000,
    spin: 300,
    out_of_memory: 20_000,
    buffers: 20_000,
    unclonable: 20_000,
    deep: 20_000,
    hold: 20_000,
    wait: 20_000,
  },
  maxWaiting: 10,
  maxJobBytes: 1024 * 1024,
  maxBytes: 4 * 1024 * 1024,
};
