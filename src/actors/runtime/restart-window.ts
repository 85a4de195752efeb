import type { RestartBudget } from "./actor.js";

const defaultBudget: RestartBudget = { restarts: 3, windowMs: 60_000 };

/** Counts restarts in a sliding window, so that an actor that keeps failing is ended instead of restarted for ever. */
export class RestartWindow {
  readonly budget: RestartBudget;
  readonly #now: () => number;
  #restarts: number[] = [];

  /** The clock must be monotonic. */
  constructor(budget: RestartBudget = defaultBudget, now: () => number = () => performance.now()) {
    this.budget = budget;
    this.#now = now;
  }

  /** Takes one restart from the budget; returns false when none is left. */
  spend(): boolean {
    const now = this.#now();
    this.#restarts = this.#restarts.filter((time) => now - time < this.budget.windowMs);
    if (this.#restarts.length >= this.budget.restarts) return false;
    this.#restarts.push(now);
    return true;
  }
}
