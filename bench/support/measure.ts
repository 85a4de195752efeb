/** One thing to measure; each call of `measure` returns one value. */
export interface Subject {
  readonly name: string;
  measure(): Promise<number> | number;
}

/** Measures A B C A B C … so that a busy moment of the machine affects all subjects; returns the median of each. */
export async function interleaved(rounds: number, subjects: readonly Subject[]): Promise<Map<string, number>> {
  const values = subjects.map((): number[] => []);
  // The first round warms the caches and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, subject] of subjects.entries()) {
      const value = await subject.measure();
      if (round > 0) values[index]?.push(value);
    }
  }
  return new Map(subjects.map(({ name }, index) => [name, median(values[index] ?? [])]));
}

/** Runs `work`, which does `count` operations, and returns the operations per second. */
export async function perSecond(count: number, work: () => Promise<unknown> | void): Promise<number> {
  const begin = performance.now();
  await work();
  return (count * 1000) / (performance.now() - begin);
}

/** Runs `work` `times` times, at most `lanes` at once. */
export async function inLanes(lanes: number, times: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < times) await work(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
