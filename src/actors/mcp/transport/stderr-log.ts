import { BoundedLines } from "../../../base/text/bounded-lines.js";
import { shortened } from "../../../base/text/truncate.js";
import { visible } from "../../../base/text/visible.js";

/** Maximum stderr output of one server in the log, over all its restarts. */
const maxLoggedChars = 64 * 1024;

const maxLineChars = 2_000;

const keptLines = 5;

/** A server's stderr: a bounded part for the log, and the last lines to explain its exit. */
export class StderrLog {
  readonly #log: (text: string) => void;
  readonly #lines: BoundedLines;
  #left = maxLoggedChars;
  #last: string[] = [];

  /** `redact` gets whole lines, because part of a secret would not be recognized. */
  constructor(log: (text: string) => void, redact: (text: string) => string) {
    this.#log = log;
    const add = (text: string): void => this.#add(shortened(visible(redact(text).trimEnd()), maxLineChars));
    this.#lines = new BoundedLines(16 * 1024, { line: add, tooLong: (head) => add(head.replace(/\S+$/, "…")) });
  }

  push(bytes: Buffer): void {
    this.#lines.push(bytes);
  }

  /** The last lines, to explain to the user why the server ended. */
  get last(): string {
    return this.#last.join(" / ");
  }

  /** Clears the last lines for a new process. */
  forget(): void {
    this.#last = [];
  }

  #add(line: string): void {
    this.#last = [...this.#last, shortened(line, 300)].slice(-keptLines);
    if (this.#left <= 0) return;
    this.#left -= line.length;
    this.#log(this.#left > 0 ? line : `${line} (further stderr output is not logged)`);
  }
}
