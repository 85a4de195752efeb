import type { RestartBudget } from "./actor.js";

const defaultBudget: RestartBudget = { restarts: 3, windowMs: 60_000 };

/** Counts restarts in a sliding window, so that what fails again and again ends instead of spinning. */
export class RestartWindow {
  readonly budget: RestartBudget;
  readonly #now: () => number;
  #restarts: number[] = [];

  /** The clock must never go back. */
  constructor(budget: RestartBudget = defaultBudget, now: () => number = () => performance.now()) {
    this.budget = budget;
    this.#now = now;
  }

  /** Takes one restart from the budget, or says that there is none left. */
  spend(): boolean {
    const now = this.#now();
    this.#restarts = this.#restarts.filter((time) => now - time < this.budget.windowMs);
    if (this.#restarts.length >= this.budget.restarts) return false;
    this.#restarts.push(now);
    return true;
  }
}
