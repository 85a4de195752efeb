import { secretOf } from "../providers/credential.js";
import { failureText } from "../providers/failures/failure-text.js";
import type { SummaryTarget } from "./io-jobs.js";
import type { IoPool } from "./open-io-pool.js";
import type { SummaryOutcome, SummaryRequest } from "./summarize.js";

/** Asks a model for a summary in a thread of the pool; a failure of the thread is an outcome too. */
export async function summarizeInThread(
  pool: IoPool,
  target: SummaryTarget,
  request: SummaryRequest,
  signal: AbortSignal,
): Promise<SummaryOutcome> {
  const outcome = await pool.run("summarize", { target, request }, { signal });
  if (outcome.ok) return outcome.value;
  const { failure } = outcome;
  if (failure.code === "aborted") return { status: "aborted" };
  // The message of a dead thread may contain anything, including the key.
  const apiKey = target.kind === "wire" ? secretOf(target.credential) : undefined;
  const message = failureText(failure.message, { apiKey });
  return { status: "failed", failure: { ...failure, message }, truncatedCount: 0 };
}
