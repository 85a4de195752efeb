import type { MemorySample } from "./load.js";

const everyMs = 1_000;
const windowSeconds = 10;
const minuteSeconds = 60;
/** From so many seconds on the first minute says how much memory is needed: before it V8 grows to its size. */
export const judgedFromSeconds = 2 * minuteSeconds;

/**
 * Notes how much memory the process has, each second. Everything that is dead is let go once for each window: V8
 * itself lets the dead grow to three times the living, over minutes, and who leaks looks the same for so long.
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

/** The second whose memory is compared to that of the end: after a minute, or the first third of a short run. */
export function earlySecondOf(seconds: number): number {
  return seconds >= judgedFromSeconds ? minuteSeconds : Math.ceil(seconds / 3);
}

/** The mean of the ten seconds before one, and what was last seen to live. */
export function memoryBefore(samples: readonly MemorySample[], end: number): Memory {
  const before = samples.filter(({ second }) => second <= end);
  const window = before.filter(({ second }) => second > end - windowSeconds);
  return {
    rss: window.reduce((sum, { rss }) => sum + rss, 0) / window.length,
    live: before.findLast(({ live }) => live !== undefined)?.live ?? Number.NaN,
  };
}
