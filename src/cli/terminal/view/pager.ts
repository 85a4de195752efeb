import type { Key } from "../screen/key.js";
import type { View } from "./view.js";

export interface PagerSource {
  readonly title: string;
  /** All lines. Called again when the width changes. */
  lines(view: View): readonly string[];
}

/** A text on the alternate screen, to be scrolled and searched. */
export class Pager {
  readonly #source: PagerSource;

  constructor(source: PagerSource) {
    this.#source = source;
  }

  press(_key: Key): "changed" | "closed" | "ignored" {
    return "closed";
  }

  /** The rows of the screen: exactly `rows` of them. */
  rows(view: View, rows: number): string[] {
    return this.#source.lines(view).slice(0, rows);
  }
}
