import { FileProblem } from "../files/file-problem.js";

/** Typographic characters that models write plainly, or the other way round. */
const plainForms: readonly (readonly [RegExp, string])[] = [
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u2018-\u201b]/g, "'"],
  [/[\u201c-\u201f]/g, '"'],
  [/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " "],
];

/** How lines are compared, the strictest first. */
const forms: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => plainForms.reduce((text, [odd, plain]) => text.replaceAll(odd, plain), line).trim(),
];

/** How many characters are compared at most for one file: hostile lines could be compared for hours. */
const maxWork = 50_000_000;

/** Finds lines in a file. */
export class LineFinder {
  readonly #lines: readonly string[];
  /** The lines in each form, made when it is first needed. */
  readonly #inForm: (readonly string[] | undefined)[] = [];
  #workLeft = maxWork;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** Where these lines stand for the first time from an index on, or, `atEnd`, as the last ones. */
  find(wanted: readonly string[], from: number, atEnd: boolean): number | undefined {
    const last = this.#lines.length - wanted.length;
    const start = atEnd ? Math.max(from, last) : from;
    for (const [index, form] of forms.entries()) {
      const lines = (this.#inForm[index] ??= this.#lines.map(form));
      const looked = wanted.map(form);
      for (let at = start; at <= last; at += 1) {
        if (this.#stands(looked, lines, at)) return at;
      }
    }
    return undefined;
  }

  #stands(wanted: readonly string[], lines: readonly string[], at: number): boolean {
    for (const [index, line] of wanted.entries()) {
      const other = lines[at + index] ?? "";
      this.#workLeft -= line.length === other.length ? line.length + 1 : 1;
      if (this.#workLeft < 0) throw new FileProblem("its lines are too much alike to find these among them");
      if (line !== other) return false;
    }
    return true;
  }
}
