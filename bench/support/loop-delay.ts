import { monitorEventLoopDelay } from "node:perf_hooks";

export interface LoopDelay {
  readonly p99: number;
  readonly max: number;
}

const resolutionMs = 1;
const nanosecondsPerMillisecond = 1e6;

/** How late a timer of one millisecond fires in the main thread during `work`, in milliseconds. */
export async function loopDelay(work: () => Promise<unknown>): Promise<LoopDelay> {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  await work();
  histogram.disable();
  // Node records the time between two timers, so subtract the timer's own interval.
  const late = (nanoseconds: number): number => nanoseconds / nanosecondsPerMillisecond - resolutionMs;
  return { p99: late(histogram.percentile(99)), max: late(histogram.max) };
}
