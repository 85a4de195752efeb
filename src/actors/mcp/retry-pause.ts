const firstMs = 5_000;
const longestMs = 5 * 60 * 1_000;

/** How long what has failed is left alone: longer each time, until it works again. */
export class RetryPause {
  readonly #now: () => number;
  #ms = 0;
  #until = -Infinity;

  /** The clock must never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get isOver(): boolean {
    return this.#now() >= this.#until;
  }

  failed(): void {
    this.#ms = Math.min(Math.max(firstMs, this.#ms * 2), longestMs);
    this.#until = this.#now() + this.#ms;
  }

  worked(): void {
    this.#ms = 0;
  }
}
