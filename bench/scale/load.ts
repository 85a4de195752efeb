import { monitorEventLoopDelay } from "node:perf_hooks";

/** What one process has to do. */
export interface Load {
  readonly conversations: number;
  readonly turns: number;
  readonly deltas: number;
  readonly delayMs: number;
  /** The base URL of the server that answers at this pace. */
  readonly url: string;
  /** The base URL of the server that answers at once. */
  readonly warmUpUrl: string;
}

/** Conversations that are open. */
export interface Client {
  play(): Promise<void>;
  close(): Promise<void>;
}

export type OpenClient = (load: Load, directory: string) => Promise<Client>;

/** Of the turns alone; opening and closing are told beside them. */
export interface Measured {
  readonly openMs: number;
  readonly closeMs: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** The process at its largest. */
  readonly peakBytes: number;
  /** What it had grown by then, since before the first conversation. */
  readonly grownBytes: number;
  /** Milliseconds, without the millisecond between two looks. */
  readonly delay: { readonly p50: number; readonly p99: number; readonly max: number };
}

const kibibyte = 1024;
const nanosecondsPerMs = 1e6;
const resolutionMs = 1;

/** Measures what this process does with a load. */
export async function measured(open: () => Promise<Client>): Promise<Measured> {
  const rss = process.memoryUsage.rss();
  const start = performance.now();
  const client = await open();
  const openMs = performance.now() - start;
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  const cpu = process.cpuUsage();
  const begin = performance.now();
  await client.play();
  const wallMs = performance.now() - begin;
  const { user, system } = process.cpuUsage(cpu);
  histogram.disable();
  const end = performance.now();
  await client.close();
  const peakBytes = process.resourceUsage().maxRSS * kibibyte;
  const late = (nanoseconds: number): number => Math.max(0.01, nanoseconds / nanosecondsPerMs - resolutionMs);
  return {
    openMs,
    closeMs: performance.now() - end,
    wallMs,
    cpuMs: (user + system) / 1000,
    peakBytes,
    grownBytes: Math.max(1, peakBytes - rss),
    delay: { p50: late(histogram.percentile(50)), p99: late(histogram.percentile(99)), max: late(histogram.max) },
  };
}
