const maxBytes = 32 * 1024;
const newline = 0x0a;

/** The first lines of something of any length; says when there are enough of them. */
export class FirstLines {
  readonly #maxLines: number;
  readonly #onEnough: () => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #count = 0;
  #isCut = false;

  constructor(maxLines: number, onEnough: () => void) {
    this.#maxLines = maxLines;
    this.#onEnough = onEnough;
  }

  push(bytes: Buffer): void {
    if (this.#isCut || bytes.length === 0) return;
    const end = this.#endOfRoom(bytes);
    this.#pieces.push(Buffer.from(bytes.subarray(0, end)));
    this.#bytes += end;
    if (end === bytes.length) return;
    this.#isCut = true;
    this.#onEnough();
  }

  /** The lines that are whole, without a dot and a slash at their start. */
  end(): { readonly lines: readonly string[]; readonly isCut: boolean } {
    const lines = Buffer.concat(this.#pieces).toString().split("\n");
    // Behind the last line end there is nothing, or a part of a line.
    const last = lines.pop() ?? "";
    if (last !== "" && !this.#isCut) lines.push(last);
    return { lines: lines.map((line) => line.replace(/^\.\//, "")), isCut: this.#isCut };
  }

  /** How many of the bytes there is room for; a byte more than that means that there are more lines. */
  #endOfRoom(bytes: Buffer): number {
    const room = Math.min(bytes.length, maxBytes - this.#bytes);
    for (let at = bytes.indexOf(newline); at !== -1 && at < room; at = bytes.indexOf(newline, at + 1)) {
      this.#count += 1;
      if (this.#count === this.#maxLines) return Math.min(room, at + 1);
      if (this.#count > this.#maxLines) return 0;
    }
    return this.#count >= this.#maxLines ? 0 : room;
  }
}
