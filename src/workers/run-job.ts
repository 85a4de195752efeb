import { MessageChannel } from "node:worker_threads";
import type { JobCall } from "./job-call.js";
import type { PoolThreads } from "./pool-threads.js";
import { threadFailure } from "./thread-failure.js";

/**
 * Plays a job in a thread; resolves when the thread is rid of it. A cancelled job has `graceMs` to end by itself, and
 * then, or at once when there is no grace, its thread is ended.
 */
export async function runJob(call: JobCall, threads: PoolThreads, graceMs: number | undefined): Promise<void> {
  const end = new AbortController();
  const cancelling = graceMs === undefined ? undefined : new MessageChannel();
  let grace: NodeJS.Timeout | undefined;
  call.onCancel = () => {
    if (cancelling === undefined) return end.abort();
    cancelling.port1.postMessage("cancel");
    grace = setTimeout(() => end.abort(), graceMs);
  };
  const forgetDeadline = startDeadline(call);
  try {
    const { job, input } = call;
    call.settle(await threads.run({ job, input, ...(cancelling && { cancel: cancelling.port2 }) }, end));
  } catch (error) {
    call.settle(threadFailure(call.job, error));
  } finally {
    forgetDeadline();
    clearTimeout(grace);
    cancelling?.port1.close();
  }
}

function startDeadline(call: JobCall): () => void {
  const late = (): void => call.cancel("deadline", `took longer than ${call.deadlineMs} ms`);
  // After the process was stopped for long, a timer fires before the outcome that has come meanwhile is read.
  const timer = setTimeout(() => setImmediate(late), call.deadlineMs);
  return () => clearTimeout(timer);
}
