import { cellWidth } from "../screen/cells.js";
import { type Run, wrapRuns } from "./rows.js";
import type { View } from "./view.js";

type Cell = readonly Run[];

export interface Table {
  readonly header: readonly Cell[];
  readonly rows: readonly (readonly Cell[])[];
  readonly align: readonly ("left" | "center" | "right" | null)[];
}

/** The least cells of a column; where a table needs less, its rows are shown as lists. */
const leastCells = 6;
const between = 3;
const pipe = /(?<!\\)\|/g;

/**
 * The cells of a row with more cells than the table has columns; undefined for other rows. Markdown drops the cells
 * beyond, most of which are code with a `|` in it. Here they become part of a cell.
 */
export function surplusCells(row: string, columns: number): string[] | undefined {
  if (cellsOf(row).length <= columns) return undefined;
  const cells = cellsOf(row.replaceAll(/(`+).+?\1/g, (code) => code.replaceAll(pipe, "\\|")));
  const fitted = [...cells.slice(0, columns - 1), cells.slice(columns - 1).join(" | ")];
  return fitted.map((cell) => cell.replaceAll("\\|", "|"));
}

function cellsOf(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(pipe).map((cell) => cell.trim());
}

/** A table with columns as wide as their text, or narrower with wrapped text. */
export function tableLines(table: Table, view: View): string[] {
  const widths = widthsOf(table, view.columns);
  return widths === undefined ? recordLines(table, view) : gridLines(table, widths, view);
}

/** Undefined if there is no room for the columns. */
function widthsOf({ header, rows }: Table, columns: number): number[] | undefined {
  const wanted = header.map((cell, index) =>
    Math.max(1, ...[cell, ...rows.map((row) => row[index] ?? [])].map((each) => textWidth(each))),
  );
  const room = columns - between * (header.length - 1);
  const total = wanted.reduce((sum, width) => sum + width, 0);
  if (total <= room) return wanted;
  if (room < wanted.reduce((sum, width) => sum + Math.min(width, leastCells), 0)) return undefined;
  // The widest columns become narrower, all of them to the same width.
  let limit = leastCells;
  while (wanted.reduce((sum, width) => sum + Math.min(width, limit + 1), 0) <= room) limit += 1;
  const widths = wanted.map((width) => Math.min(width, limit));
  let rest = room - widths.reduce((sum, width) => sum + width, 0);
  return widths.map((width, index) => (rest > 0 && (wanted[index] ?? 0) > width ? ((rest -= 1), width + 1) : width));
}

function gridLines({ header, rows, align }: Table, widths: readonly number[], { theme }: View): string[] {
  const bar = theme.dim(" │ ");
  const rowLines = (cells: readonly Cell[]): string[] => {
    const columns = widths.map((width, index) => wrapRuns(cells[index] ?? [], width));
    const height = Math.max(1, ...columns.map((lines) => lines.length));
    return Array.from({ length: height }, (_line, row) =>
      columns
        .map((lines, index) =>
          aligned(lines[row] ?? "", widths[index] ?? 0, align[index] ?? "left", index === columns.length - 1),
        )
        .join(bar),
    );
  };
  const line = theme.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  const body = rows.map(rowLines);
  // Rows of several lines would run into each other.
  const isApart = body.some((lines) => lines.length > 1);
  const parts = isApart ? body.flatMap((lines, index) => (index === 0 ? lines : [line, ...lines])) : body.flat();
  return [...rowLines(header), line, ...parts];
}

function aligned(text: string, width: number, align: "left" | "center" | "right", isLast: boolean): string {
  const space = Math.max(0, width - cellWidth(text));
  const before = align === "right" ? space : align === "center" ? Math.floor(space / 2) : 0;
  return " ".repeat(before) + text + (isLast ? "" : " ".repeat(space - before));
}

/** Each row as lines with the header before the value. */
function recordLines({ header, rows }: Table, { columns, theme }: View): string[] {
  const lines = rows.map((row) =>
    header.flatMap((name, index) => {
      const value = row[index] ?? [];
      return wrapRuns([...name, { text: ": ", style: theme.dim }, ...value], columns);
    }),
  );
  const rule = theme.dim("─".repeat(Math.min(columns, leastCells * 2)));
  if (lines.length === 0)
    return wrapRuns(
      header.flatMap((name) => [...name, { text: "  " }]),
      columns,
    );
  return lines.flatMap((each, index) => (index === 0 ? each : [rule, ...each]));
}

/** The widest line of a cell. */
function textWidth(cell: Cell): number {
  const lines = cell
    .map(({ text }) => text)
    .join("")
    .split("\n");
  return Math.max(0, ...lines.map(cellWidth));
}
