import type { MemorySample } from "./load.js";

const everyMs = 1_000;
const windowSeconds = 10;
const minuteSeconds = 60;
/** Runs of at least this length are compared with their first minute; in shorter ones V8's heap is still growing. */
export const judgedFromSeconds = 2 * minuteSeconds;

/**
 * Samples the memory of the process every second, and collects garbage once per window: by itself V8 lets garbage
 * grow to three times the live heap over minutes, which cannot be told from a leak in that time.
 */
export function sampledMemory(): { readonly samples: readonly MemorySample[] } & Disposable {
  const samples: MemorySample[] = [];
  const begin = performance.now();
  const sample = (): void => {
    const collects = samples.length % windowSeconds === windowSeconds / 2 - 1;
    if (collects) globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    samples.push({ second: (performance.now() - begin) / 1000, rss, live: collects ? heapUsed : undefined });
  };
  const timer = setInterval(sample, everyMs);
  return { samples, [Symbol.dispose]: () => clearInterval(timer) };
}

export interface Memory {
  readonly rss: number;
  readonly live: number;
}

/** The second whose memory is compared with the end: after a minute, or after a third of a short run. */
export function earlySecondOf(seconds: number): number {
  return seconds >= judgedFromSeconds ? minuteSeconds : Math.ceil(seconds / 3);
}

/** The mean RSS of the ten seconds before `end`, and the newest size of the live heap. */
export function memoryBefore(samples: readonly MemorySample[], end: number): Memory {
  const before = samples.filter(({ second }) => second <= end);
  const window = before.filter(({ second }) => second > end - windowSeconds);
  return {
    rss: window.reduce((sum, { rss }) => sum + rss, 0) / window.length,
    live: before.findLast(({ live }) => live !== undefined)?.live ?? Number.NaN,
  };
}
