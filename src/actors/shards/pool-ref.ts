import type { PoolAnswers, PoolOp } from "../../messages/actors/pool.js";
import type { CpuJobs, CpuPool } from "../../workers/cpu-pool.js";
import { jobFailed, type JobOutcome } from "../../workers/jobs.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Ref } from "../runtime/actor.js";

/** The pool of the main thread, as a shard reaches it. Its threads serve all shards. */
export function poolRef(pool: CpuPool): Pick<Ref<PoolOp, PoolAnswers>, "tell" | "ask"> {
  const run = ({ job, input }: PoolOp, signal?: AbortSignal): Promise<PoolAnswers["run"]> =>
    pool.run(job, input as never, signal === undefined ? {} : { signal });
  return {
    tell: async (op) => {
      await run(op);
      return "";
    },
    ask: async (op: PoolOp, signal?: AbortSignal) => (await run(op, signal)) as never,
  };
}

/** Runs jobs in the pool of the main thread. */
export function remotePool(ref: Ref<PoolOp, PoolAnswers>): CpuPool {
  return {
    run: async (job, input, options) => {
      try {
        return (await ref.ask({ type: "run", job, input }, options?.signal)) as JobOutcome<
          CpuJobs[typeof job]["output"]
        >;
      } catch (error) {
        if (error instanceof FailureError) return { ok: false, failure: error.failure };
        return jobFailed("internal", `${job}: ${String(error)}`);
      }
    },
  };
}
