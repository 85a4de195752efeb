import { monitorEventLoopDelay } from "node:perf_hooks";
import { median } from "../support/measure.js";

/** The work of one process. */
export interface Load {
  readonly conversations: number;
  readonly turns: number;
  readonly deltas: number;
  readonly delayMs: number;
  /** Whether the process plays other turns before, so that V8 has compiled the hot functions. */
  readonly isWarm: boolean;
  /** The base URL of the server with this delay; without one, cody's client has a provider in the process. */
  readonly url?: string;
  /** The base URL of the server without a delay. */
  readonly warmUpUrl?: string;
}

/** A client with its conversations open. */
export interface Client {
  /** Plays all turns. Calls back with the time from the start of a turn to its first delta. */
  play(onFirstDelta?: (ms: number) => void): Promise<void>;
  close(): Promise<void>;
}

export type OpenClient = (load: Load, directory: string) => Promise<Client>;

/** The cost of the turns, and separately of opening and closing. */
export interface Measured {
  readonly openMs: number;
  readonly closeMs: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** The peak memory of the process. */
  readonly peakBytes: number;
  /** The growth from before the first conversation to the peak. */
  readonly grownBytes: number;
  /** The median time from the start of a turn to its first delta. */
  readonly firstDeltaMs: number;
  /** The growth from before the first conversation to the idle conversations after their turns. */
  readonly keptBytes: number;
  /** Event loop delay in milliseconds, without the sampling interval. */
  readonly delay: { readonly p50: number; readonly p99: number; readonly max: number };
}

const kibibyte = 1024;
const nanosecondsPerMs = 1e6;
const resolutionMs = 1;

/** Runs a client in this process and measures it. */
export async function measured(open: () => Promise<Client>): Promise<Measured> {
  const rss = process.memoryUsage.rss();
  const start = performance.now();
  const client = await open();
  const openMs = performance.now() - start;
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  const cpu = process.cpuUsage();
  const begin = performance.now();
  const firstDeltas: number[] = [];
  await client.play((ms) => void firstDeltas.push(ms));
  const wallMs = performance.now() - begin;
  const { user, system } = process.cpuUsage(cpu);
  histogram.disable();
  globalThis.gc?.();
  const keptBytes = process.memoryUsage.rss() - rss;
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
    firstDeltaMs: median(firstDeltas),
    keptBytes: Math.max(1, keptBytes),
    delay: { p50: late(histogram.percentile(50)), p99: late(histogram.percentile(99)), max: late(histogram.max) },
  };
}

/** The median of each figure. */
export function medianOf(all: readonly Measured[]): Measured {
  const of = (figure: (measured: Measured) => number): number => median(all.map(figure));
  return {
    openMs: of(({ openMs }) => openMs),
    closeMs: of(({ closeMs }) => closeMs),
    wallMs: of(({ wallMs }) => wallMs),
    cpuMs: of(({ cpuMs }) => cpuMs),
    peakBytes: of(({ peakBytes }) => peakBytes),
    grownBytes: of(({ grownBytes }) => grownBytes),
    firstDeltaMs: of(({ firstDeltaMs }) => firstDeltaMs),
    keptBytes: of(({ keptBytes }) => keptBytes),
    delay: { p50: of(({ delay }) => delay.p50), p99: of(({ delay }) => delay.p99), max: of(({ delay }) => delay.max) },
  };
}
