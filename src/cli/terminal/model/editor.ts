import type { Key } from "../screen/key.js";
import { type Completion, completionAt, type CompletionRange } from "./completion.js";
import { type Cell, cellsOf, type EditorRow, placeAtColumn, rowAt, RowLayout } from "./editor-rows.js";
import { type Editing, keyName, type NamedKey } from "./editing.js";
import { pressEmacs } from "./emacs-keys.js";
import { HistorySearch } from "./history-search.js";
import { KillRing } from "./kill-ring.js";
import type { PromptHistory } from "./prompt-history.js";
import { TextBuffer } from "./text-buffer.js";
import { ViKeys } from "./vi-keys.js";

export type { Cell } from "./editor-rows.js";
export type EditorKeys = "emacs" | "vi";

interface EditorOptions {
  readonly history: PromptHistory;
  readonly keys: EditorKeys;
}

/** The rows that fit on the screen, and the cursor among them. */
interface VisibleRows {
  readonly rows: readonly (readonly Cell[])[];
  readonly cursor: { readonly row: number; readonly column: number };
  /** How many rows there are above and below. */
  readonly above: number;
  readonly below: number;
}

/**
 * The text that a person is writing. Keys that mean nothing here are "ignored" and left to the caller; Enter is
 * "submit", and the caller then takes the text.
 */
export class Editor {
  readonly #history: PromptHistory;
  readonly #buffer = new TextBuffer();
  readonly #kills = new KillRing();
  readonly #layout = new RowLayout();
  readonly #editing: Editing;
  /** Present with vi's keys. */
  #vi: ViKeys | undefined;
  #search: HistorySearch | undefined;
  /** The text that the search has found. */
  readonly #found = new TextBuffer();
  /** The place in the history; 0 is the text that was never sent. */
  #back = 0;
  /** Texts of places that were left, as they were changed there. */
  readonly #drafts = new Map<number, string>();
  /** The width at which the text was last shown: Up and Down move by its rows. */
  #columns = 80;
  #top = 0;
  /** The column that Up and Down return to after a shorter row. */
  #column: number | undefined;

  constructor({ history, keys }: EditorOptions) {
    this.#history = history;
    this.#editing = { buffer: this.#buffer, kills: this.#kills, moveRow: (by) => this.#moveRow(by) };
    this.keys = keys;
  }

  get keys(): EditorKeys {
    return this.#vi === undefined ? "emacs" : "vi";
  }

  set keys(keys: EditorKeys) {
    if (keys === this.keys) return;
    this.#buffer.endJoinedStep();
    this.#vi = keys === "vi" ? new ViKeys(this.#editing) : undefined;
  }

  /** The mode of vi's keys and the command that is being typed. */
  get vi(): { readonly mode: "insert" | "normal"; readonly pending: string } | undefined {
    return this.#vi && { mode: this.#vi.mode, pending: this.#vi.pending };
  }

  /** With folded pastes in full. */
  get text(): string {
    return this.#buffer.expandedText;
  }

  get isEmpty(): boolean {
    return this.#buffer.text === "";
  }

  get completion(): Completion | undefined {
    const range = this.#completionRange();
    return range && { trigger: range.trigger, query: this.#buffer.expanded(range.query) };
  }

  /** The history search, while it is open. `isFound` is false if no text contains the query. */
  get search(): { readonly query: string; readonly isFound: boolean } | undefined {
    return this.#search && { query: this.#search.query, isFound: this.#search.isFound };
  }

  /** Whether the last change was refused because the text would be too long. */
  get isFull(): boolean {
    return this.#buffer.isFull;
  }

  /** Replaces the text; undo brings it back. */
  setText(text: string): void {
    this.#search = undefined;
    this.#buffer.setText(text);
  }

  /** Inserts at the cursor. */
  insert(text: string): void {
    this.#buffer.insert(text);
  }

  /** Replaces what `completion` describes, from its trigger to the end of the word. */
  complete(replacement: string): void {
    const range = this.#completionRange();
    if (range !== undefined) this.#buffer.replace(range.start, range.end, replacement);
  }

  /** Returns the text with folded pastes in full, adds it to the history and clears the editor. */
  take(): string {
    const expand = (text: string): string => this.#buffer.expanded(text);
    this.#kills.mapTexts(expand);
    this.#vi?.reset(expand);
    const text = this.#buffer.take();
    this.#layout.clear();
    this.#drafts.clear();
    [this.#back, this.#top, this.#search] = [0, 0, undefined];
    this.#history.add(text);
    return text;
  }

  press(key: Key): "changed" | "submit" | "ignored" {
    this.#kills.nextKey();
    const isVertical = key.type === "key" && ["up", "down", "ctrl+p", "ctrl+n"].includes(keyName(key));
    if (!isVertical) this.#column = undefined;
    if (key.type === "paste") return this.#paste(key.text);
    if (this.#search !== undefined) return this.#pressInSearch(this.#search, key);
    const name = keyName(key);
    if (name === "enter") return this.#enter();
    if (name === "ctrl+r" && this.#vi?.mode !== "normal") return this.#openSearch();
    const isUsed = this.#vi === undefined ? pressEmacs(key, this.#editing) : this.#vi.press(key);
    return isUsed ? "changed" : "ignored";
  }

  /** The rows to show in so many columns and rows, scrolled so that the cursor is among them. */
  visibleRows({ columns, maxRows }: { readonly columns: number; readonly maxRows: number }): VisibleRows {
    this.#columns = columns;
    const buffer = this.#search === undefined ? this.#buffer : this.#found;
    const rows = this.#layout.rowsOf(buffer, columns);
    const row = rowAt(rows, buffer.cursor);
    const count = Math.min(rows.length, Math.max(1, maxRows));
    this.#top = Math.max(row - count + 1, Math.min(this.#top, row, rows.length - count));
    const visible = rows.slice(this.#top, this.#top + count).map((range) => cellsOf(buffer, range, columns));
    const cursor = { row: row - this.#top, column: columnOf(visible[row - this.#top], buffer.cursor) };
    return { rows: visible, cursor, above: this.#top, below: rows.length - this.#top - count };
  }

  #completionRange(): CompletionRange | undefined {
    if (this.#search !== undefined || this.#vi?.mode === "normal") return undefined;
    return completionAt(this.#buffer.text, this.#buffer.cursor);
  }

  #paste(text: string): "changed" {
    if (this.#search === undefined) this.#buffer.paste(text);
    else {
      this.#search.paste(text);
      this.#showFound(this.#search);
    }
    return "changed";
  }

  /** After a backslash, a new line. */
  #enter(): "changed" | "submit" {
    const { cursor } = this.#buffer;
    if (this.#buffer.text[cursor - 1] !== "\\") return "submit";
    this.#buffer.replace(cursor - 1, cursor, "\n");
    return "changed";
  }

  #openSearch(): "changed" {
    this.#search = new HistorySearch(this.#history);
    this.#found.take();
    return "changed";
  }

  /** A key that ends the search does also what it means otherwise, except Enter and Tab. */
  #pressInSearch(search: HistorySearch, key: NamedKey): "changed" | "submit" | "ignored" {
    const outcome = search.press(key);
    if (outcome === "searching") this.#showFound(search);
    else this.#search = undefined;
    if (outcome !== "taken") return "changed";
    if (search.found !== undefined) {
      this.#buffer.setText(search.found.text);
      this.#buffer.moveTo(search.found.place);
    }
    const isEnd = ["enter", "tab"].includes(keyName(key));
    if (!isEnd) this.press(key);
    return "changed";
  }

  #showFound({ found }: HistorySearch): void {
    this.#found.take();
    this.#found.insert(found?.text ?? "");
    this.#found.moveTo(found?.place ?? 0);
  }

  #moveRow(by: -1 | 1): boolean {
    const rows = this.#layout.rowsOf(this.#buffer, this.#columns);
    const row = rowAt(rows, this.#buffer.cursor);
    this.#column ??= columnOf(this.#cellsOf(rows[row]), this.#buffer.cursor);
    const target = rows[row + by];
    if (target === undefined) return this.#moveInHistory(by);
    this.#buffer.moveTo(placeAtColumn(target, this.#cellsOf(target), this.#column));
    return true;
  }

  #cellsOf(row: EditorRow | undefined): Cell[] {
    return row === undefined ? [] : cellsOf(this.#buffer, row, this.#columns);
  }

  #moveInHistory(by: -1 | 1): boolean {
    const back = this.#back - by;
    const text = back === 0 ? "" : this.#history.at(back);
    if (back < 0 || text === undefined) return false;
    this.#drafts.set(this.#back, this.#buffer.expandedText);
    this.#back = back;
    this.#buffer.setText(this.#drafts.get(back) ?? text);
    this.#column = undefined;
    return true;
  }
}

/** The width of the cells before a place. */
function columnOf(cells: readonly Cell[] = [], place: number): number {
  return cells.reduce((sum, cell) => (cell.start < place ? sum + cell.width : sum), 0);
}
