import { monitorEventLoopDelay } from "node:perf_hooks";

/** What one process has to do. */
export interface Load {
  readonly conversations: number;
  readonly turns: number;
  readonly deltas: number;
  readonly delayMs: number;
  /** The base URL of the server that answers at this pace. */
  readonly url: string;
}

export interface Measured {
  readonly wallMs: number;
  readonly cpuMs: number;
  /** What the process has grown by at its largest, since before the first conversation. */
  readonly rssBytes: number;
  /** Milliseconds, without the millisecond between two looks. */
  readonly delay: { readonly p50: number; readonly p99: number; readonly max: number };
}

const kibibyte = 1024;
const nanosecondsPerMs = 1e6;
const resolutionMs = 1;

/** Measures the work of this process. */
export async function measured(work: () => Promise<void>): Promise<Measured> {
  const rss = process.memoryUsage.rss();
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  const cpu = process.cpuUsage();
  const begin = performance.now();
  await work();
  const wallMs = performance.now() - begin;
  const { user, system } = process.cpuUsage(cpu);
  histogram.disable();
  const late = (nanoseconds: number): number => Math.max(0.01, nanoseconds / nanosecondsPerMs - resolutionMs);
  return {
    wallMs,
    cpuMs: (user + system) / 1000,
    rssBytes: Math.max(1, process.resourceUsage().maxRSS * kibibyte - rss),
    delay: { p50: late(histogram.percentile(50)), p99: late(histogram.percentile(99)), max: late(histogram.max) },
  };
}
