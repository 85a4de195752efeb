import { shortened } from "../../../base/text/truncate.js";
import { visible } from "../../../base/text/visible.js";

/** Maximum stderr output of one server in the log, over all its restarts. */
const maxLoggedChars = 64 * 1024;

const maxLineChars = 2_000;

const keptLines = 5;

interface LineListener {
  line(text: string): void;
  /** Called instead of `line` for a line that is too long, with its beginning and end. */
  tooLong(head: string, tail: string): void;
}

const endBytes = 256;
const lineFeed = 10;

/** Splits bytes into lines with bounded memory: of a line that is too long only the ends are kept. */
export class BoundedLines {
  readonly #maxBytes: number;
  readonly #listener: LineListener;
  #parts: Buffer[] = [];
  #length = 0;
  #head: Buffer | undefined;
  #tail: Buffer = Buffer.alloc(0);

  constructor(maxBytes: number, listener: LineListener) {
    this.#maxBytes = maxBytes;
    this.#listener = listener;
  }

  push(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      this.#addBytes(bytes.subarray(start, end));
      this.#end();
      start = end + 1;
    }
    if (start < bytes.length) this.#addBytes(bytes.subarray(start));
  }

  #addBytes(bytes: Buffer): void {
    if (this.#head === undefined && this.#length + bytes.length <= this.#maxBytes) {
      this.#parts.push(bytes);
      this.#length += bytes.length;
      return;
    }
    if (this.#head === undefined) {
      this.#head = Buffer.concat(this.#parts).subarray(0, endBytes);
      this.#tail = Buffer.concat(this.#parts).subarray(-endBytes);
      this.#parts = [];
    }
    if (this.#head.length < endBytes) this.#head = Buffer.concat([this.#head, bytes]).subarray(0, endBytes);
    // Copied, because a slice would keep the whole large buffer alive.
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(-endBytes)].map((part) => Buffer.from(part))).subarray(
      -endBytes,
    );
  }

  #end(): void {
    const [head, tail, parts] = [this.#head, this.#tail, this.#parts];
    this.#head = undefined;
    this.#tail = Buffer.alloc(0);
    this.#parts = [];
    this.#length = 0;
    if (head !== undefined) return this.#listener.tooLong(head.toString(), tail.toString());
    const [first] = parts;
    const text = (parts.length === 1 && first !== undefined ? first : Buffer.concat(parts)).toString();
    if (text.trim() !== "") this.#listener.line(text);
  }
}

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
