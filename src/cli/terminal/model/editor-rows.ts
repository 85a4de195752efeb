import { harmless } from "../../../base/text/harmless.js";
import { visible } from "../../../base/text/visible.js";
import { cellWidth, cutToCells } from "../screen/cells.js";
import { charactersOf, type TextBuffer } from "./text-buffer.js";

const tab = "    ";
/** Characters that take no room where they are not part of another one. */
const invisible = /^[\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]$/u;
const printable = /^[ -~]*$/;

/** One row of the screen, as a range of the text. */
export interface EditorRow {
  readonly start: number;
  /** The start of the next row, or the end of the line. */
  readonly end: number;
  /** Whether the line ends with this row, so that the cursor can be behind its last character. */
  readonly endsLine: boolean;
}

/** One character as it is drawn. */
export interface Cell {
  readonly start: number;
  readonly text: string;
  readonly width: number;
  readonly isPaste: boolean;
}

/** Wraps the lines of a text, between words where it can. Remembers the lines that stay the same. */
export class RowLayout {
  #columns = 0;
  /** The ends of the rows of a line, relative to its start. */
  #lines = new Map<string, readonly number[]>();

  rowsOf(buffer: TextBuffer, columns: number): EditorRow[] {
    const known = this.#columns === columns ? this.#lines : new Map<string, readonly number[]>();
    this.#columns = columns;
    this.#lines = new Map();
    const rows: EditorRow[] = [];
    let lineStart = 0;
    for (const line of buffer.text.split("\n")) {
      const ends = known.get(line) ?? rowEnds(buffer, line, columns);
      this.#lines.set(line, ends);
      let start = lineStart;
      for (const [index, relative] of ends.entries()) {
        const end = lineStart + relative;
        rows.push({ start, end, endsLine: index === ends.length - 1 });
        start = end;
      }
      lineStart += line.length + 1;
    }
    return rows;
  }

  /** Folded pastes have other texts now. */
  clear(): void {
    this.#lines.clear();
  }
}

/** The characters of a row as they are drawn. */
export function cellsOf(buffer: TextBuffer, { start, end }: Pick<EditorRow, "start" | "end">, columns: number): Cell[] {
  let at = start;
  return charactersOf(buffer.text.slice(start, end)).map((character) => {
    const cell = cellOf(buffer, character, at, columns);
    at += character.length;
    return cell;
  });
}

/** The index of the row with a place. A place between two rows is in the second. */
export function rowAt(rows: readonly EditorRow[], place: number): number {
  return Math.max(
    0,
    rows.findIndex(({ end, endsLine }) => place < end || (endsLine && place === end)),
  );
}

/** The place in a row that is nearest to a column from the left. */
export function placeAtColumn({ start, end, endsLine }: EditorRow, cells: readonly Cell[], column: number): number {
  let place = start;
  let width = 0;
  for (const cell of cells) {
    if (width > column) return place;
    place = cell.start;
    width += cell.width;
  }
  return endsLine && width <= column ? end : place;
}

function rowEnds(buffer: TextBuffer, line: string, columns: number): number[] {
  return printable.test(line) ? printableRowEnds(line, columns) : mixedRowEnds(buffer, line, columns);
}

function printableRowEnds(line: string, columns: number): number[] {
  const ends: number[] = [];
  let start = 0;
  while (line.length - start > columns) {
    // Only in this row: a search in the whole line would go back to its start.
    const space = line.slice(start, start + columns).lastIndexOf(" ");
    start += space === -1 ? columns : space + 1;
    ends.push(start);
  }
  return [...ends, line.length];
}

function mixedRowEnds(buffer: TextBuffer, line: string, columns: number): number[] {
  const ends: number[] = [];
  let at = 0;
  let width = 0;
  /** The place after the last space of the row, and the width up to it. */
  let word: { readonly at: number; readonly width: number } | undefined;
  for (const character of charactersOf(line)) {
    const own = cellOf(buffer, character, at, columns).width;
    if (width + own > columns && word !== undefined) {
      ends.push(word.at);
      width -= word.width;
      word = undefined;
    }
    // The word itself may be too long.
    if (width + own > columns) {
      ends.push(at);
      width = 0;
    }
    at += character.length;
    width += own;
    if (character === " " || character === "\t") word = { at, width };
  }
  return [...ends, at];
}

function cellOf(buffer: TextBuffer, character: string, start: number, columns: number): Cell {
  const label = buffer.foldedLabel(character);
  const text = label ?? drawn(character);
  const width = cellWidth(text);
  if (width <= columns) return { start, text, width, isPaste: label !== undefined };
  const cut = cutToCells(text, columns) || "?";
  return { start, text: cut, width: cellWidth(cut), isPaste: label !== undefined };
}

/** A character without an effect on the terminal and with a width. */
function drawn(character: string): string {
  if (character === "\t") return tab;
  const text = harmless(character);
  return invisible.test(text) || cellWidth(text) === 0 ? visible(character) : text;
}
