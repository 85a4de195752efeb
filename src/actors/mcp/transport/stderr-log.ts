import { shortened } from "../../../base/text/shortened.js";
import { visible } from "../../../base/text/visible.js";
import { BoundedLines } from "./bounded-lines.js";

/** How much of what one server complains goes into the log, in all its lives. */
const maxLoggedChars = 64 * 1024;
const maxLineChars = 2_000;
const keptLines = 5;

/** What a server writes to stderr: a bounded part of it for the log, and the last lines to explain its end. */
export class StderrLog {
  readonly #log: (text: string) => void;
  readonly #lines: BoundedLines;
  #left = maxLoggedChars;
  #last: string[] = [];

  /** `redact` sees whole lines: half of a secret would not be known for one. */
  constructor(log: (text: string) => void, redact: (text: string) => string) {
    this.#log = log;
    const add = (text: string): void => this.#add(shortened(visible(redact(text).trimEnd()), maxLineChars));
    this.#lines = new BoundedLines(16 * 1024, { line: add, tooLong: (head) => add(head.replace(/\S+$/, "…")) });
  }

  push(bytes: Buffer): void {
    this.#lines.push(bytes);
  }

  /** How it ended, for a person. */
  get last(): string {
    return this.#last.join(" / ");
  }

  /** For a new process. */
  forget(): void {
    this.#last = [];
  }

  #add(line: string): void {
    this.#last = [...this.#last, shortened(line, 300)].slice(-keptLines);
    if (this.#left <= 0) return;
    this.#left -= line.length;
    this.#log(this.#left > 0 ? line : `${line} (what else it writes to stderr is not logged)`);
  }
}
