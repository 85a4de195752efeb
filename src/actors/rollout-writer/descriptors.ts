/** Someone who keeps a file open for the next time and can do without. */
export interface Holder {
  letGo(): Promise<void>;
}

/** Bounds how many files stay open between two writes: the ones unused for longest are closed. */
export class Descriptors {
  readonly #limit: number;
  /** In the order in which they were last used. */
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

  /** When the process has run out of descriptors. */
  async closeIdle(): Promise<void> {
    const holders = [...this.#idle];
    this.#idle.clear();
    await Promise.all(holders.map((holder) => holder.letGo()));
  }
}
