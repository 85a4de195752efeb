import { FailureError } from "../messages/errors.js";
import { jobFailed, type JobOutcome } from "./job.js";

/** How a job ended that did not end by itself, from what its thread was rejected with. */
export function threadFailure(job: string, error: unknown): JobOutcome<never> {
  if (error instanceof FailureError) return { ok: false, failure: error.failure };
  if (isOutOfMemory(error)) {
    // The same job would fill the next thread as well.
    return jobFailed("thread_died", `${job}: the thread ran out of memory`);
  }
  return jobFailed("thread_died", `${job}: the thread died: ${reasonOf(error)}`, true);
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

/** A thread that could not start is reported as the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}
