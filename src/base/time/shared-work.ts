/**
 * Work whose result many callers want at once. A caller gets a run that starts after it asked, and shares it with every
 * caller that asked before that run started.
 */
export class SharedWork<T> {
  readonly #work: () => Promise<T>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  ask(): Promise<T> {
    this.#next ??= this.#startAfter(this.#running);
    return this.#next;
  }

  async #startAfter(running: Promise<unknown>): Promise<T> {
    await running;
    const work = this.#work();
    this.#running = work.catch(() => undefined);
    this.#next = undefined;
    return await work;
  }
}

/** Runs tasks in the order they came, at most `limit` at a time. */
export class ConcurrencyLimit {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await this.#turn();
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The lane passes directly to the next waiter, so that a newcomer cannot overtake those who wait.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
