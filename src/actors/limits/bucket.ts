const minuteMs = 60_000;

/** So many in a minute: what was not used is saved up, for a minute at most. */
export class Bucket {
  readonly #perMinute: number;
  #left: number;
  #at: number;

  constructor(perMinute: number, nowMs: number) {
    this.#perMinute = perMinute;
    this.#left = perMinute;
    this.#at = nowMs;
  }

  /** How long until so many may be taken. More than there ever are may be taken when all are there. */
  waitMs(amount: number, nowMs: number): number {
    this.#fill(nowMs);
    const missing = Math.min(amount, this.#perMinute) - this.#left;
    return missing <= 0 ? 0 : Math.ceil((missing * minuteMs) / this.#perMinute);
  }

  /** Also more than are left: then the next has to wait for them. A negative amount is given back. */
  take(amount: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#left = Math.min(this.#perMinute, this.#left - amount);
  }

  /** A clock that goes back gives nothing. */
  #fill(nowMs: number): void {
    const gained = (Math.max(0, nowMs - this.#at) * this.#perMinute) / minuteMs;
    this.#left = Math.min(this.#perMinute, this.#left + gained);
    this.#at = nowMs;
  }
}
