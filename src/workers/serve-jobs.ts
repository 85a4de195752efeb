import { type JobBodies, jobFailed, type JobTable, type Task, type TaskOutcome } from "./job.js";
import { pack, unpack } from "./pack.js";
import { FailureError } from "../messages/failure-error.js";

/** Runs a pool's jobs in a thread: the result is the default export of the thread's entry file. */
export function serveJobs<Jobs extends JobTable>(bodies: JobBodies<Jobs>): (task: Task) => Promise<TaskOutcome> {
  return async ({ job, input, cancel }) => {
    const cancelled = new AbortController();
    cancel?.once("message", () => cancelled.abort());
    try {
      const body = bodies[job];
      if (body === undefined) return jobFailed("bad_message", `${job}: unknown job`);
      return { ok: true, value: pack(await body(unpack(input), cancelled.signal)) };
    } catch (error) {
      return failureOf(job, error);
    } finally {
      cancel?.close();
    }
  };
}

/** Returned as data, because errors lose their fields between threads. */
function failureOf(job: string, error: unknown): TaskOutcome {
  if (error instanceof FailureError) return { ok: false, failure: error.failure };
  return jobFailed("internal", `${job}: ${error instanceof Error ? error.message : String(error)}`);
}
