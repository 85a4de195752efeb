import type { MessagePort } from "node:worker_threads";
import type { Failure } from "../messages/failure.js";

/** What a pool can run: for each job what goes in and what comes out, both plain data. */
export type JobTable = Readonly<Record<string, { readonly input: unknown; readonly output: unknown }>>;

/** The bodies of a table's jobs, which run in the thread; the signal is aborted when nobody wants the output any more. */
export type JobBodies<Jobs extends JobTable> = {
  readonly [Name in keyof Jobs]: (
    input: Jobs[Name]["input"],
    signal: AbortSignal,
  ) => Jobs[Name]["output"] | Promise<Jobs[Name]["output"]>;
};

export type JobOutcome<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly failure: Failure };

/** A job on its way to a thread; `input` is packed. */
export interface Task {
  readonly job: string;
  readonly input: Uint8Array;
  /** Says, with any message, that the job is cancelled. */
  readonly cancel?: MessagePort;
}

/** An outcome on its way back; the value is packed. */
export type TaskOutcome = JobOutcome<Uint8Array>;

export function jobFailed(code: Failure["code"], message: string, retryable = false): { ok: false; failure: Failure } {
  return { ok: false, failure: { code, message, retryable } };
}
