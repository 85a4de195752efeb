import { harmless } from "../../../base/text/harmless.js";
import { cellWidth, graphemesOf } from "../screen/cells.js";

const tabCells = 4;

/** A text from outside on one line, ready to be styled: without control characters, tabs as spaces. */
export function cleanLine(text: string): string {
  return harmless(text.replaceAll("\n", " ").replaceAll("\t", " ".repeat(tabCells)));
}

/** The lines of a text from outside, ready to be styled. */
export function cleanLines(text: string): string[] {
  return text.replaceAll(/\r\n?/g, "\n").split("\n").map(cleanLine);
}

/** A text without styles in rows of at most so many cells, broken at spaces where possible. */
export function wrapText(text: string, cells: number): string[] {
  const rows: string[] = [];
  let row = "";
  for (const grapheme of graphemesOf(text)) {
    if (row !== "" && cellWidth(row + grapheme) > cells) {
      rows.push(row);
      row = "";
    }
    row += grapheme;
  }
  return [...rows, row];
}

/** The start of a text without styles that fits into the cells, with `…` if it was cut. */
export function fitText(text: string, cells: number): string {
  if (cellWidth(text) <= cells) return text;
  if (cells < 1) return "";
  return `${wrapText(text, Math.max(1, cells - 1))[0] ?? ""}…`;
}
