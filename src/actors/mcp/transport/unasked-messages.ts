/** Progress and notifications come a few times per second; a server that sends more than this is misbehaving. */
const perMinute = 5_000;

/** Counts the messages that a server sends without a request. */
export class UnsolicitedMessages {
  #count = 0;
  #since: number | undefined;
  readonly reason = `it sends more than ${perMinute} unsolicited messages per minute`;

  /** Returns whether the rate is still acceptable. */
  add(now = performance.now()): boolean {
    if (this.#since === undefined || now - this.#since >= 60_000) {
      this.#since = now;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count <= perMinute;
  }
}
