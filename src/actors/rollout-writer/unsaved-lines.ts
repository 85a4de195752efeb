interface Line {
  readonly text: string;
  readonly bytes: number;
}

/** Lines in the order they were added, each kept until it is known to be durable. */
export class UnsavedLines {
  #lines: Line[] = [];
  #sent = 0;
  #added = 0;
  #savedBytes: number | undefined;
  #waitingBytes = 0;

  /** `savedBytes` is the length of the file before the first of these lines, if already known. */
  constructor(savedBytes: number | undefined) {
    this.#savedBytes = savedBytes;
  }

  get count(): number {
    return this.#lines.length;
  }

  get added(): number {
    return this.#added;
  }

  get saved(): number {
    return this.#added - this.#lines.length;
  }

  /** The number of the last line that was taken. */
  get sentThrough(): number {
    return this.saved + this.#sent;
  }

  get savedBytes(): number | undefined {
    return this.#savedBytes;
  }

  /** Length of the file with all lines; zero while its initial length is unknown. */
  get endBytes(): number {
    return this.#savedBytes === undefined ? 0 : this.#savedBytes + this.#waitingBytes;
  }

  beginsAt(bytes: number): void {
    this.#savedBytes ??= bytes;
  }

  /** Returns the number of bytes added. */
  add(text: string): number {
    const bytes = Buffer.byteLength(text);
    this.#lines.push({ text, bytes });
    this.#added += 1;
    this.#waitingBytes += bytes;
    return bytes;
  }

  takeUnsent(): string[] {
    const lines = this.#lines.slice(this.#sent).map((line) => line.text);
    this.#sent = this.#lines.length;
    return lines;
  }

  sendAgain(): void {
    this.#sent = 0;
  }

  /** Drops the lines before `end`; returns the number of bytes that no longer wait. */
  savedUpTo(end: number, lines: number): number {
    if (this.#savedBytes === undefined) {
      // The first event has no lines and reports the initial length of the file.
      this.#savedBytes = lines === 0 ? end : undefined;
      return 0;
    }
    const before = this.#savedBytes;
    let count = 0;
    for (const line of this.#lines) {
      if (this.#savedBytes + line.bytes > end) break;
      this.#savedBytes += line.bytes;
      count += 1;
    }
    this.#lines.splice(0, count);
    this.#sent = Math.max(0, this.#sent - count);
    this.#waitingBytes -= this.#savedBytes - before;
    return this.#savedBytes - before;
  }

  clear(): number {
    const bytes = this.#waitingBytes;
    this.#lines = [];
    this.#sent = 0;
    this.#waitingBytes = 0;
    return bytes;
  }
}
