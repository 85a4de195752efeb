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

  /** `savedBytes` is where the file ends before the first of these lines, as soon as that is known. */
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

  /** Where the file will end; zero as long as it is not known where it began. */
  get endBytes(): number {
    return this.#savedBytes === undefined ? 0 : this.#savedBytes + this.#waitingBytes;
  }

  beginsAt(bytes: number): void {
    this.#savedBytes ??= bytes;
  }

  /** Gives the number of bytes that wait now and did not before. */
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

  /** Forgets the lines that lie before `end`; gives the number of bytes that no longer wait. */
  savedUpTo(end: number, lines: number): number {
    if (this.#savedBytes === undefined) {
      // Only an event without lines can be the first: it says where the file began.
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
