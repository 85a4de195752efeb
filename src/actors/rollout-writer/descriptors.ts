/** Something that keeps a file open for its next use and can close it on request. */
export interface Holder {
  letGo(): Promise<void>;
}

/** Bounds the number of files that stay open between writes: the least recently used are closed. */
export class Descriptors {
  readonly #limit: number;
  /** In order of last use. */
  readonly #idle = new Set<Holder>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  inUse(holder: Holder): void {
    this.#idle.delete(holder);
  }

  async idle(holder: Holder): Promise<void> {
    this.#idle.add(holder);
    for (const oldest of this.#idle) {
      if (this.#idle.size <= this.#limit) break;
      this.#idle.delete(oldest);
      await oldest.letGo();
    }
  }

  /** Called when the process has run out of file descriptors. */
  async closeIdle(): Promise<void> {
    const holders = [...this.#idle];
    this.#idle.clear();
    await Promise.all(holders.map((holder) => holder.letGo()));
  }
}
