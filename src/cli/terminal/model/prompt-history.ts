import type { TextRedactor } from "../../../base/text/redaction.js";

export interface PromptHistoryOptions {
  /** Absent when nothing is saved: then the history has the texts of this process only. */
  readonly file?: string | undefined;
  readonly redactor: Pick<TextRedactor, "redact">;
  readonly now: () => number;
  /** Called once, with a sentence, if the file cannot be read or written. */
  readonly onProblem?: (text: string) => void;
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

  /** The distance of the nearest text, from `back` on, that contains the query; a query in small letters finds both. */
  search(query: string, back: number, direction: "older" | "newer"): number | undefined {
    const isExact = query !== query.toLowerCase();
    const step = direction === "older" ? 1 : -1;
    for (let at = back; at >= 1 && at <= this.#texts.length; at += step) {
      const text = this.at(at) ?? "";
      if ((isExact ? text : text.toLowerCase()).includes(query)) return at;
    }
    return undefined;
  }

  /** Resolves when the file has been read and everything is written. */
  async flush(): Promise<void> {}
}
