import { harmless } from "../../../base/text/harmless.js";
import { cellWidth, graphemesOf } from "../screen/cells.js";
import type { Style } from "./view.js";

/** A part of a line in one style. The text has no control characters, except `\n` where a row must end. */
export interface Run {
  readonly text: string;
  readonly style?: Style | undefined;
}

const tab = "    ";
/** Texts written without spaces, which may be broken anywhere. */
const unspaced = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]|[\ud840-\ud8bf]/;
const [space, newline] = [0x20, 0x0a];
const printableAscii = /^[\u0020-\u007e]*$/;

/** A text from outside on one line, ready to be styled: no control characters, tabs as spaces. */
export function cleanLine(text: string): string {
  const line = harmless(text);
  return line.includes("\n") || line.includes("\t") ? line.replaceAll("\n", " ").replaceAll("\t", tab) : line;
}

/** The lines of a text from outside, ready to be styled. */
export function cleanLines(text: string): string[] {
  return text.split("\n").map(cleanLine);
}

/** Runs as rows of at most so many cells, broken at spaces where possible. Spaces around a break are dropped. */
export function wrapRuns(runs: readonly Run[], cells: number): string[] {
  if (fitsOneRow(runs, cells)) return [joined(runs)];
  const rows = new Rows(Math.max(1, cells));
  for (const { text, style } of runs) rows.addText(text, style);
  return rows.end();
}

/** The lines of a text without styles as rows, like `wrapRuns`. Keeps the spaces at the start of a line. */
export function wrapText(text: string, cells: number, style?: Style): string[] {
  return text.split("\n").flatMap((line) => {
    if (cellWidth(line) <= cells) return [styled({ text: line, style })];
    const rest = line.trimStart();
    const indent = line.slice(0, Math.min(line.length - rest.length, Math.floor(cells / 2)));
    const [first = "", ...others] = wrapRuns([{ text: "x".repeat(indent.length) + rest }], cells);
    return [indent + first.slice(indent.length), ...others].map((row) => styled({ text: row, style }));
  });
}

/** Runs as rows that are full before the next one begins. Keeps all spaces, as code needs it. */
export function breakRuns(runs: readonly Run[], cells: number): string[] {
  const width = runs.reduce((sum, { text }) => sum + cellWidth(text), 0);
  if (width <= cells) return [joined(runs)];
  const rows = [];
  let row: Run[] = [];
  let used = 0;
  for (const { text, style } of runs) {
    for (const part of partsOf(text, cells - used, cells)) {
      const partWidth = cellWidth(part);
      if (used > 0 && used + partWidth > cells) {
        rows.push(joined(row));
        row = [];
        used = 0;
      }
      row.push({ text: part, style });
      used += partWidth;
    }
  }
  return [...rows, joined(row)];
}

/** The start of a text without styles that fits into the cells, with `…` if it was cut. */
export function fitText(text: string, cells: number): string {
  if (cellWidth(text) <= cells) return text;
  if (cells < 1) return "";
  // A terminal with 200 columns does not need more characters than this; graphemes of a long text take time.
  const [start = ""] = partsOf(text.slice(0, cells * 16), cells - 1, cells - 1);
  return cellWidth(start) < cells ? `${start.trimEnd()}…` : "…";
}

/** A duration for people: 0.4 s, 12 s, 3 min 5 s, 2 h 10 min. */
export function elapsedText(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1_000;
  if (seconds < 9.95) return `${seconds.toFixed(1).replace(/\.0$/, "")} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function styled({ text, style }: Run): string {
  return style === undefined || text === "" ? text : style(text);
}

/** True for runs that wrapping would not change. */
function fitsOneRow(runs: readonly Run[], cells: number): boolean {
  const width = runs.reduce((sum, { text }) => sum + cellWidth(text), 0);
  const isOuterSpace = runs[0]?.text.startsWith(" ") === true || runs.at(-1)?.text.endsWith(" ") === true;
  return width <= cells && !isOuterSpace && !runs.some(({ text }) => text.includes("\n"));
}

/** Runs as one string; neighbours in the same style share its sequences. */
function joined(runs: readonly Run[]): string {
  let line = "";
  let text = "";
  let style: Style | undefined;
  for (const run of runs) {
    if (run.style !== style) {
      line += styled({ text, style });
      text = "";
      ({ style } = run);
    }
    text += run.text;
  }
  return line + styled({ text, style });
}

/** Cuts a text into parts: the first fits into `first` cells, the others into `cells`. At least one grapheme each. */
function partsOf(text: string, first: number, cells: number): string[] {
  const parts = [];
  let [part, width, room] = ["", 0, first];
  for (const grapheme of graphemesOf(text)) {
    const more = cellWidth(grapheme);
    if (width + more > room && (part !== "" || room < cells)) {
      parts.push(part);
      [part, width, room] = ["", 0, cells];
    }
    part += grapheme;
    width += more;
  }
  parts.push(part);
  return parts.filter((each) => each !== "");
}

/** Rows under construction: a row, the spaces after it, and a word that may consist of several runs. */
class Rows {
  readonly #cells: number;
  readonly #rows: string[] = [];
  #row: Run[] = [];
  #used = 0;
  #spaces: Run | undefined;
  #word: Run[] = [];
  #wordWidth = 0;

  constructor(cells: number) {
    this.#cells = cells;
  }

  addText(text: string, style: Style | undefined): void {
    const isSimple = printableAscii.test(text);
    let start = 0;
    while (start < text.length) {
      const code = text.charCodeAt(start);
      let end = start + 1;
      if (code === newline) this.#breakRow();
      else if (code === space) {
        while (text.charCodeAt(end) === space) end += 1;
        this.#endWord();
        this.#spaces = { text: text.slice(start, end), style };
      } else {
        while (end < text.length && text.charCodeAt(end) !== space && text.charCodeAt(end) !== newline) end += 1;
        const piece = text.slice(start, end);
        this.#word.push({ text: piece, style });
        this.#wordWidth += isSimple ? piece.length : cellWidth(piece);
      }
      start = end;
    }
  }

  end(): string[] {
    this.#breakRow();
    return this.#rows;
  }

  #breakRow(): void {
    this.#endWord();
    this.#spaces = undefined;
    this.#pushRow();
  }

  #endWord(): void {
    if (this.#word.length === 0) return;
    const word = this.#word;
    const width = this.#wordWidth;
    const spaces = this.#used === 0 ? undefined : this.#spaces;
    const gap = spaces?.text.length ?? 0;
    [this.#word, this.#wordWidth, this.#spaces] = [[], 0, undefined];
    if (this.#used + gap + width <= this.#cells) {
      if (spaces !== undefined) this.#put(spaces, gap);
      for (const run of word) this.#row.push(run);
      this.#used += width;
      return;
    }
    const isUnspaced = word.some(({ text }) => unspaced.test(text));
    if (isUnspaced && spaces !== undefined && this.#used + gap < this.#cells) this.#put(spaces, gap);
    else if (this.#used > 0 && !(isUnspaced && gap === 0)) this.#pushRow();
    this.#fill(word);
  }

  #put(run: Run, width: number): void {
    this.#row.push(run);
    this.#used += width;
  }

  #fill(word: readonly Run[]): void {
    for (const { text, style } of word) {
      for (const part of partsOf(text, this.#cells - this.#used, this.#cells)) {
        const width = cellWidth(part);
        if (this.#used > 0 && this.#used + width > this.#cells) this.#pushRow();
        this.#put({ text: part, style }, width);
      }
    }
  }

  #pushRow(): void {
    this.#rows.push(joined(this.#row));
    this.#row = [];
    this.#used = 0;
  }
}
