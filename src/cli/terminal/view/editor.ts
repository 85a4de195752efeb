import type { Editor } from "../model/editor.js";
import type { EditorRow } from "../model/editor-rows.js";
import { cellWidth } from "../screen/cells.js";
import type { View } from "./view.js";

export interface EditorViewOptions {
  readonly maxRows: number;
  /** Stands before the first row. */
  readonly prompt?: string;
}

export interface EditorView {
  readonly lines: string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

export function editorView(editor: Editor, view: View, { maxRows, prompt = "› " }: EditorViewOptions): EditorView {
  const indent = cellWidth(prompt);
  const { rows, cursor } = editor.visibleRows({ columns: Math.max(1, view.columns - indent - 1), maxRows });
  const lines = rows.map((row, index) => (index === 0 ? view.theme.accent(prompt) : " ".repeat(indent)) + textOf(row));
  return { lines, cursor: { row: cursor.row, column: Math.min(view.columns - 1, indent + cursor.column) } };
}

function textOf({ cells }: EditorRow): string {
  return cells.map(({ text }) => text).join("");
}
