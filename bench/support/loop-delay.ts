import { monitorEventLoopDelay } from "node:perf_hooks";

export interface LoopDelay {
  readonly p99: number;
  readonly max: number;
}

const resolutionMs = 1;
const nanosecondsPerMillisecond = 1e6;

/** How much later than due a timer of one millisecond comes in the main thread while something goes on. */
export async function loopDelay(work: () => Promise<unknown>): Promise<LoopDelay> {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  await work();
  histogram.disable();
  // Node records the time from one timer to the next, so the timer's own millisecond is taken off.
  const late = (nanoseconds: number): number => nanoseconds / nanosecondsPerMillisecond - resolutionMs;
  return { p99: late(histogram.percentile(99)), max: late(histogram.max) };
}
