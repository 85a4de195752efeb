import type { MessagePort } from "node:worker_threads";
import type { Failure } from "../messages/failure.js";

/** The jobs of a pool: the input and output of each, both plain data. */
export type JobTable = Readonly<Record<string, { readonly input: unknown; readonly output: unknown }>>;

/**
 * The implementations of a table's jobs, which run in the thread. The signal is aborted when the output is no longer
 * needed.
 */
export type JobBodies<Jobs extends JobTable> = {
  readonly [Name in keyof Jobs]: (
    input: Jobs[Name]["input"],
    signal: AbortSignal,
  ) => Jobs[Name]["output"] | Promise<Jobs[Name]["output"]>;
};

export type JobOutcome<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly failure: Failure };

/** A job sent to a thread; `input` is packed. */
export interface Task {
  readonly job: string;
  readonly input: Uint8Array;
  /** Any message on this port cancels the job. */
  readonly cancel?: MessagePort;
}

/** An outcome sent back; the value is packed. */
export type TaskOutcome = JobOutcome<Uint8Array>;

export function jobFailed(code: Failure["code"], message: string, retryable = false): { ok: false; failure: Failure } {
  return { ok: false, failure: { code, message, retryable } };
}
