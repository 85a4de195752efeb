/** Splits a text into lines with their line breaks; only the last line may have none. */
export function linesIn(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Maps equal lines to equal numbers. */
export class LineNumbers {
  readonly #numbers = new Map<string, number>();

  of(lines: readonly string[]): Int32Array {
    return Int32Array.from(lines, (line) => {
      const known = this.#numbers.get(line);
      if (known !== undefined) return known;
      this.#numbers.set(line, this.#numbers.size);
      return this.#numbers.size - 1;
    });
  }
}
