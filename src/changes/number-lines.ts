/** The lines of a text, each with its line break; only the last may have none. */
export function linesIn(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Lines as numbers that are equal where the lines are. */
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
