/** One thing to measure; every call gives one value. */
export interface Subject {
  readonly name: string;
  measure(): Promise<number> | number;
}

/** Measures A B C A B C … so that a busy moment of the machine meets all of them; gives the median of each. */
export async function interleaved(rounds: number, subjects: readonly Subject[]): Promise<Map<string, number>> {
  const values = subjects.map((): number[] => []);
  // The first time everything is cold: it warms the caches and does not count.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, subject] of subjects.entries()) {
      const value = await subject.measure();
      if (round > 0) values[index]?.push(value);
    }
  }
  return new Map(subjects.map(({ name }, index) => [name, median(values[index] ?? [])]));
}

/** How many there were in a second. */
export async function perSecond(count: number, work: () => Promise<unknown> | void): Promise<number> {
  const begin = performance.now();
  await work();
  return (count * 1000) / (performance.now() - begin);
}

/** Does a piece of work so many times, with a number of them under way at once. */
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
