/** Progress and news come some times in a second; more than this is no conversation any more. */
const perMinute = 5_000;

/** Counts what a server sends without having been asked. */
export class UnaskedMessages {
  #count = 0;
  #since: number | undefined;
  readonly reason = `it sends more than ${perMinute} messages in a minute that nobody asked for`;

  /** Says whether that is still bearable. */
  add(now = performance.now()): boolean {
    if (this.#since === undefined || now - this.#since >= 60_000) {
      this.#since = now;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count <= perMinute;
  }
}
