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
