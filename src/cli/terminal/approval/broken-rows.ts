import { cellsOf } from "../../format/cells.js";

const unknownColumns = 100;
/** Narrower than this nobody can read anything. */
const minColumns = 20;
const continuation = "  ┆ ";
const continuationCells = 5;

/**
 * A line as the rows of a terminal. What the terminal breaks goes on in the first column, where it could pass for ours;
 * what is broken here goes on behind a mark.
 */
export function brokenRows(line: string, columns: number | undefined): string[] {
  const width = Math.max(columns || unknownColumns, minColumns);
  const rows: string[] = [];
  let start = 0;
  let cells = 0;
  for (let at = 0; at < line.length; at += 1) {
    const more = cellsOf(line.charCodeAt(at));
    if (cells + more > width) {
      rows.push(line.slice(start, at));
      start = at;
      cells = continuationCells;
    }
    cells += more;
  }
  rows.push(line.slice(start));
  return rows.map((row, index) => (index === 0 ? row : continuation + row));
}
