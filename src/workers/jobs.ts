import type { MessagePort } from "node:worker_threads";
import { constants, getPriority, setPriority } from "node:os";
import { deserialize, serialize } from "node:v8";
import { errorMessage } from "../base/error-message.js";
import { FailureError } from "../messages/failure-error.js";
import type { Failure } from "../messages/failure.js";

const maxReasonChars = 200;

const niceness = 10;

/** Whether a thread can have its own priority; elsewhere the priority applies to the whole process. */
export const hasThreadPriority = process.platform === "linux";

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

/** Lowers the priority of the calling thread below all other threads of the process. */
export function lowerThreadPriority(): void {
  if (!hasThreadPriority) return;
  try {
    setPriority(Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW));
  } catch {
    // Some containers forbid it, and the lower priority is optional.
  }
}

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
  return jobFailed("internal", `${job}: ${errorMessage(error)}`);
}

/**
 * Serializes a value. Done here and not by the port, so that the size is known before anything is sent, and a value
 * that cannot be cloned, or is too deep to be read by the receiver, fails where it can be caught. A port would lose the
 * message or the thread.
 */
export function pack(value: unknown): Uint8Array<ArrayBuffer> {
  return orBadMessage("cannot be sent", () => serialize(value));
}

export function unpack(bytes: Uint8Array): unknown {
  return orBadMessage("cannot be read", (): unknown => deserialize(bytes));
}

function orBadMessage<Value>(what: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    const reason = errorMessage(error).slice(0, maxReasonChars);
    const message = `a value ${what} between threads: ${reason}`;
    throw new FailureError({ code: "bad_message", message, retryable: false }, { cause: error });
  }
}
