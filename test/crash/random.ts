/** Pseudo-random numbers that repeat with the same seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let bits = this.#state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** A number from `low` to `high`; every order of magnitude is equally likely. */
  magnitude(low: number, high: number): number {
    return Math.round(low * (high / low) ** this.next());
  }

  pick<T>(values: readonly T[]): T | undefined {
    return values[this.whole(0, values.length - 1)];
  }

  /** A random selection of the values, in random order. */
  sample<T>(values: readonly T[], count: number): T[] {
    const rest = [...values];
    return Array.from({ length: Math.min(count, rest.length) }, () =>
      rest.splice(this.whole(0, rest.length - 1), 1),
    ).flat();
  }
}
