import { writeSync } from "node:fs";

/** One line of a child's output: an event of a conversation, or the progress of the child itself. */
export interface Report {
  readonly type: string;
  readonly conversation?: string;
  readonly round?: number;
  /** The turn that has ended, whether its lines are durable, and its question. */
  readonly turn?: string;
  readonly saved?: boolean;
  readonly question?: string;
  readonly message?: string;
  /** The number of the last line that is durable. */
  readonly line?: number;
}

const stdout = 1;
const clock = new Int32Array(new SharedArrayBuffer(4));

/** Writes synchronously, so that everything reported before a kill has really happened. */
export function sendReport(report: Report): void {
  let rest = Buffer.from(`${JSON.stringify(report)}\n`);
  while (rest.length > 0) rest = rest.subarray(written(rest));
}

function written(bytes: Buffer): number {
  try {
    return writeSync(stdout, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    // The pipe is full. Waiting blocks this thread as a blocking write would.
    Atomics.wait(clock, 0, 0, 1);
    return 0;
  }
}
