import * as z from "zod";
import { Failure } from "../failure.js";

/** A job of the pool for computation, from another thread. The types of the jobs are in `workers/cpu-pool.ts`. */
export const PoolOp = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("run"),
    job: z.enum([
      "load_encoding",
      "count_tokens",
      "condense_rollout",
      "extract_summary",
      "count_history",
      "plan_compaction",
      "build_compaction",
      "take_snapshot",
      "end_snapshot",
      "diff_changes",
      "undo_turn",
    ]),
    input: z.unknown(),
  }),
]);
export type PoolOp = z.infer<typeof PoolOp>;

/** The answer to a job. The lines of a condensed rollout are bytes; all other values are JSON. */
export const PoolAnswers = z.object({
  run: z.discriminatedUnion("ok", [
    z.object({ ok: z.literal(true), value: z.unknown() }),
    z.object({ ok: z.literal(false), failure: Failure }),
  ]),
});
export type PoolAnswers = z.infer<typeof PoolAnswers>;
