import type { Failure } from "../messages/failure.js";
import { jobFailed, type JobOutcome } from "./job.js";

/** A job from the call to its outcome; the first outcome counts. */
export class JobCall {
  readonly job: string;
  readonly input: Uint8Array;
  readonly bytes: number;
  readonly deadlineMs: number;
  readonly outcome: Promise<JobOutcome<unknown>>;
  #resolve: ((outcome: JobOutcome<unknown>) => void) | undefined;
  /** What is to be done when nobody waits for the outcome any more. */
  onCancel: () => void = () => undefined;

  constructor(job: string, input: Uint8Array, deadlineMs: number) {
    this.job = job;
    this.input = input;
    // Its own number, because the input is given away.
    this.bytes = input.byteLength;
    this.deadlineMs = deadlineMs;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  settle(outcome: JobOutcome<unknown>): void {
    this.#resolve?.(outcome);
    this.#resolve = undefined;
  }

  cancel(code: Failure["code"], reason: string): void {
    if (this.#resolve === undefined) return;
    this.settle(jobFailed(code, `${this.job}: ${reason}`));
    this.onCancel();
  }
}
