import { harmless } from "../../../base/text/harmless.js";
import { visible } from "../../../base/text/visible.js";
import { cellWidth, cutToCells } from "../screen/cells.js";
import { charactersOf, type TextBuffer } from "./text-buffer.js";

const tab = "    ";

/** One row of the screen. */
export interface EditorRow {
  readonly start: number;
  /** The start of the next row, or the end of the line. */
  readonly end: number;
  /** Whether the line ends with this row, so that the cursor can be behind its last character. */
  readonly endsLine: boolean;
  readonly cells: readonly Cell[];
}

/** One character as it is drawn. */
export interface Cell {
  readonly start: number;
  readonly text: string;
  readonly width: number;
  readonly isPaste: boolean;
}

/** Wraps the lines of a text, between words where it can. Keeps the rows of lines that stay the same. */
export class RowLayout {
  #columns = 0;
  #lines = new Map<string, readonly EditorRow[]>();

  rowsOf(buffer: TextBuffer, columns: number): EditorRow[] {
    const known = this.#columns === columns ? this.#lines : new Map<string, readonly EditorRow[]>();
    this.#columns = columns;
    this.#lines = new Map();
    const rows: EditorRow[] = [];
    let start = 0;
    for (const line of buffer.text.split("\n")) {
      const own = known.get(line) ?? wrapped(buffer, line, columns);
      this.#lines.set(line, own);
      for (const row of own) rows.push(start === 0 ? row : shifted(row, start));
      start += line.length + 1;
    }
    return rows;
  }

  /** Folded pastes got new texts. */
  clear(): void {
    this.#lines.clear();
  }
}

/** The row and column of a place. A place between two rows is at the start of the second. */
export function placeInRows(rows: readonly EditorRow[], place: number): { row: number; column: number } {
  const found = rows.findIndex(
    ({ start, end, endsLine }) => place >= start && (place < end || (endsLine && place === end)),
  );
  const row = Math.max(0, found);
  const cells = rows[row]?.cells ?? [];
  return { row, column: cells.reduce((sum, cell) => (cell.start < place ? sum + cell.width : sum), 0) };
}

/** The place in a row that is nearest to a column from the left. */
export function placeAtColumn({ start, end, endsLine, cells }: EditorRow, column: number): number {
  let place = start;
  let width = 0;
  for (const cell of cells) {
    if (width > column) return place;
    place = cell.start;
    width += cell.width;
  }
  return endsLine && width <= column ? end : place;
}

function shifted(row: EditorRow, by: number): EditorRow {
  const cells = row.cells.map((cell) => ({ ...cell, start: cell.start + by }));
  return { start: row.start + by, end: row.end + by, endsLine: row.endsLine, cells };
}

function wrapped(buffer: TextBuffer, line: string, columns: number): EditorRow[] {
  const rows: EditorRow[] = [];
  let cells: Cell[] = [];
  let width = 0;
  /** The index in `cells` after the last space. */
  let wordAt = 0;
  let start = 0;
  const endRow = (count: number): void => {
    const rest = cells.slice(count);
    const end = rest[0]?.start ?? start;
    rows.push({ start: cells[0]?.start ?? start, end, endsLine: false, cells: cells.slice(0, count) });
    cells = rest;
    width = rest.reduce((sum, cell) => sum + cell.width, 0);
    wordAt = 0;
  };
  for (const character of charactersOf(line)) {
    const cell = cellOf(buffer, character, start, columns);
    if (width + cell.width > columns) endRow(wordAt > 0 ? wordAt : cells.length);
    // The rest of a word may still be too long.
    if (width + cell.width > columns) endRow(cells.length);
    cells.push(cell);
    width += cell.width;
    start += character.length;
    if (character === " " || character === "\t") wordAt = cells.length;
  }
  rows.push({ start: cells[0]?.start ?? start, end: start, endsLine: true, cells });
  return rows;
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
  return cellWidth(text) === 0 ? visible(character) : text;
}
