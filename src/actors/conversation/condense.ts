import type { LineObject } from "../../rollouts/line-object.js";
import { lineUse } from "./line-use.js";

export interface SizedLine {
  readonly value: LineObject;
  readonly bytes: number;
}

/**
 * Takes in a stretch of a rollout, the newest line first, and keeps only lines that matter: `apply` makes of them what
 * it makes of all, when they are what they look like.
 */
export class Condensed {
  readonly #newestFirst: SizedLine[] = [];
  #replaced: boolean;
  #hasContext = false;
  #hasUsage = false;

  /** `replaced`: the history is replaced as a whole behind the stretch. */
  constructor(replaced: boolean) {
    this.#replaced = replaced;
  }

  addBefore(value: LineObject, bytes: number): void {
    const use = lineUse(value);
    const isOutdone =
      (use === "context" && this.#hasContext) ||
      (use === "usage" && this.#hasUsage) ||
      use === "passing" ||
      use === "replaces";
    // Since the history was replaced all are kept: how many are not understood is counted by who checks them.
    if (!this.#replaced || !isOutdone) this.#newestFirst.push({ value, bytes });
    if (use === "context") this.#hasContext = true;
    if (use === "usage") this.#hasUsage = true;
    if (use === "replaces") this.#replaced = true;
  }

  get lines(): SizedLine[] {
    return this.#newestFirst.toReversed();
  }

  /** Whether lines were left out. */
  get replaced(): boolean {
    return this.#replaced;
  }
}
