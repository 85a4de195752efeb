const maxLines = 200;

/**
 * The lines that were sent, for the Up and Down keys. Unlike readline's own history it never drops text: the line being
 * typed, and each change to a recalled one, are kept until a line is sent or thrown away.
 */
export class LineHistory {
  /** The newest first. */
  readonly #sent: string[] = [];
  /** What was typed at a place that was left, by place. */
  readonly #typed = new Map<number, string>();
  /** 0 is the line being typed, 1 the newest that was sent. */
  #place = 0;

  /** The text one place further back or forth; undefined where there is none. `line` is what is being left. */
  move(direction: "older" | "newer", line: string): string | undefined {
    const place = this.#place + (direction === "older" ? 1 : -1);
    if (place < 0 || place > this.#sent.length) return undefined;
    this.#typed.set(this.#place, line);
    this.#place = place;
    return this.#typed.get(place) ?? this.#sent[place - 1];
  }

  add(line: string): void {
    this.reset();
    if (line.trim() === "" || line === this.#sent[0]) return;
    this.#sent.unshift(line);
    this.#sent.length = Math.min(this.#sent.length, maxLines);
  }

  /** Forgets what was typed and not sent. */
  reset(): void {
    this.#place = 0;
    this.#typed.clear();
  }
}
