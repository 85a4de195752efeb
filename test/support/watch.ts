/** Collects values, and waits for one that matches. */
export class Watch<T> {
  readonly seen: T[] = [];
  #waiting: { matches: (value: T) => boolean; resolve: (value: T) => void }[] = [];

  readonly push = (value: T): void => {
    this.seen.push(value);
    const matching = this.#waiting.filter(({ matches }) => matches(value));
    this.#waiting = this.#waiting.filter((waiter) => !matching.includes(waiter));
    for (const { resolve } of matching) resolve(value);
  };

  /** The first value that matches, past or future. */
  until(matches: (value: T) => boolean): Promise<T> {
    const found = this.seen.find(matches);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => {
      this.#waiting.push({ matches, resolve });
    });
  }
}
