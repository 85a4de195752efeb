/** Generates ids that look like an API's own and are unique per server. */
export class Ids {
  readonly #seed: string;
  #count = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  next(prefix: string): string {
    this.#count += 1;
    return `${prefix}${this.#seed}${this.#count.toString(36).padStart(8, "0")}`;
  }
}
