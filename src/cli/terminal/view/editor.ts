import { visible } from "../../../base/text/visible.js";
import { maxInputChars } from "../../../messages/user-input.js";
import type { Cell, Editor } from "../model/editor.js";
import { cellWidth, cutToCells } from "../screen/cells.js";
import type { View } from "./view.js";

interface EditorViewOptions {
  /** The most lines, at least 1. */
  readonly maxRows: number;
  /** Stands before the first row, without styles. */
  readonly prompt?: string;
}

interface EditorView {
  readonly lines: string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** Below this width, the prompt and the state of the editor are left out. */
const minColumns = 10;
const searchLabel = "history search: ";

/** The rows of the text around the cursor, and below them the state of vi's keys or of the history search. */
export function editorView(editor: Editor, view: View, { maxRows, prompt = "› " }: EditorViewOptions): EditorView {
  const shownPrompt = view.columns < minColumns ? "" : prompt;
  const indent = cellWidth(shownPrompt);
  const state = view.columns < minColumns || maxRows < 2 ? undefined : stateLine(editor, view);
  // The last column is left to the cursor, which may be behind the last character of a row.
  const columns = Math.max(1, view.columns - indent - 1);
  const textRows = maxRows - (state === undefined ? 0 : 1);
  const { rows, cursor, above, below } = editor.visibleRows({ columns, maxRows: textRows });
  const lines = rows.map((cells, index) => {
    const isMore = (index === 0 && above > 0) || (index === rows.length - 1 && below > 0);
    const begin = index === 0 && above === 0 ? view.theme.accent(shownPrompt) : margin(isMore ? "…" : "", indent);
    return begin + textOf(cells, view);
  });
  if (state === undefined)
    return { lines, cursor: { row: cursor.row, column: Math.min(view.columns - 1, indent + cursor.column) } };
  if (editor.search === undefined)
    return { lines: [...lines, state.line], cursor: { row: cursor.row, column: indent + cursor.column } };
  return { lines: [...lines, state.line], cursor: { row: lines.length, column: state.column } };
}

interface StateLine {
  readonly line: string;
  /** Where the cursor is while the line is written to. */
  readonly column: number;
}

function stateLine(editor: Editor, view: View): StateLine | undefined {
  const { search, vi } = editor;
  if (search !== undefined) return searchLine(search, view);
  if (editor.isFull) {
    const text = `A text can have at most ${maxInputChars} characters. Name a file instead.`;
    return { line: view.theme.warning(cutToCells(text, view.columns)), column: 0 };
  }
  if (vi === undefined) return undefined;
  const text = `-- ${vi.mode.toUpperCase()} -- ${vi.pending}`.trimEnd();
  return { line: view.theme.dim(cutToCells(text, view.columns)), column: 0 };
}

/** The end of a long query stays visible. */
function searchLine({ query, isFound }: NonNullable<Editor["search"]>, view: View): StateLine {
  const note = isFound ? "" : "  (no match)";
  const label = cutToCells(searchLabel, Math.max(0, view.columns - cellWidth(note) - minColumns / 2));
  const room = view.columns - 1 - cellWidth(label) - cellWidth(note);
  const shown = endOf(visible(query), room);
  const column = cellWidth(label) + cellWidth(shown);
  return { line: view.theme.dim(label) + shown + view.theme.warning(note), column };
}

function endOf(text: string, columns: number): string {
  let end = text;
  while (cellWidth(end) > columns) end = end.slice(1).replace(/^[\udc00-\udfff]/, "");
  return end;
}

function margin(mark: string, columns: number): string {
  return cutToCells(mark, columns).padEnd(columns);
}

function textOf(cells: readonly Cell[], { theme }: View): string {
  return cells.map(({ text, isPaste }) => (isPaste ? theme.accent(text) : text)).join("");
}
