/** Gives calls ids that are unique and that the API takes; an id that is both already stays. */
export class CallIds {
  readonly #maxChars: number;
  readonly #given = new Set<string>();
  readonly #taken: ReadonlySet<string>;
  readonly #next = new Map<string, number>();

  /** `all` are the ids of the whole history: a new id must not be one a later call has. */
  constructor(all: Iterable<string>, maxChars: number) {
    this.#taken = new Set(all);
    this.#maxChars = maxChars;
  }

  give(id: string): string {
    const given = this.#isFit(id) && !this.#given.has(id) ? id : this.#fresh(id);
    this.#given.add(given);
    return given;
  }

  #isFit(id: string): boolean {
    return id.length <= this.#maxChars && /^[A-Za-z0-9_-]+$/.test(id);
  }

  #fresh(id: string): string {
    const base = id.replaceAll(/[^A-Za-z0-9_-]/g, "_") || "call";
    // Counted for each base, as thousands of calls may share an id.
    for (let count = this.#next.get(base) ?? 1; ; count++) {
      const suffix = count === 1 ? "" : `_${count}`;
      const candidate = base.slice(0, this.#maxChars - suffix.length) + suffix;
      if (this.#taken.has(candidate) || this.#given.has(candidate)) continue;
      this.#next.set(base, count + 1);
      return candidate;
    }
  }
}
