/** `waited`: typed while something else was going on, and not seen on the screen since. */
export type TypedLine =
  | { readonly type: "line"; readonly text: string; readonly waited: boolean }
  | { readonly type: "end"; readonly exitCode: number };

/** What has been typed and not been answered yet. */
export class TypedLines {
  readonly #lines: string[] = [];
  #exitCode: number | undefined;
  #onNext: ((line: TypedLine) => void) | undefined;

  /** Whether the next one has still to be typed. */
  get isAwaited(): boolean {
    return this.#lines.length === 0 && this.#exitCode === undefined;
  }

  push(text: string): void {
    if (this.#onNext === undefined) this.#lines.push(text);
    else this.#give({ type: "line", text, waited: false });
  }

  /** What was typed before the end is answered first, unless the end is an interruption. */
  end(exitCode: number): void {
    if (this.#exitCode === undefined || exitCode !== 0) this.#exitCode = exitCode;
    if (this.#exitCode !== 0) this.#lines.length = 0;
    this.#give({ type: "end", exitCode: this.#exitCode });
  }

  next(): Promise<TypedLine> {
    const text = this.#lines.shift();
    if (text !== undefined) return Promise.resolve({ type: "line", text, waited: true });
    if (this.#exitCode !== undefined) return Promise.resolve({ type: "end", exitCode: this.#exitCode });
    return new Promise((resolve) => {
      this.#onNext = resolve;
    });
  }

  #give(line: TypedLine): void {
    const resolve = this.#onNext;
    this.#onNext = undefined;
    resolve?.(line);
  }
}
