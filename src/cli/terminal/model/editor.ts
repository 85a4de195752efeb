import type { Key } from "../screen/key.js";
import { type Completion, completionAt, type CompletionRange } from "./completion.js";
import { type EditorRow, placeAtColumn, placeInRows, RowLayout } from "./editor-rows.js";
import { type Editing, keyName, type NamedKey } from "./editing.js";
import { pressEmacs } from "./emacs-keys.js";
import { HistorySearch } from "./history-search.js";
import { KillRing } from "./kill-ring.js";
import type { PromptHistory } from "./prompt-history.js";
import { TextBuffer } from "./text-buffer.js";

export type EditorKeys = "emacs" | "vi";

export interface EditorOptions {
  readonly history: PromptHistory;
  readonly keys: EditorKeys;
}

/** The rows that fit on the screen, and the cursor among them. */
export interface VisibleRows {
  readonly rows: readonly EditorRow[];
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
  keys: EditorKeys;
  readonly #history: PromptHistory;
  readonly #buffer = new TextBuffer();
  readonly #kills = new KillRing();
  readonly #layout = new RowLayout();
  readonly #editing: Editing;
  #search: HistorySearch | undefined;
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
    this.keys = keys;
    this.#editing = { buffer: this.#buffer, kills: this.#kills, moveRow: (by) => this.#moveRow(by) };
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
    return range && { trigger: range.trigger, query: range.query };
  }

  /** The history search, while it is open. */
  get search(): Pick<HistorySearch, "query" | "isFound"> | undefined {
    return this.#search;
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
    this.#kills.mapTexts((text) => this.#buffer.expanded(text));
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
    if (name === "ctrl+r") return this.#openSearch();
    return pressEmacs(key, this.#editing) ? "changed" : "ignored";
  }

  /** The rows to show in so many columns and rows, scrolled so that the cursor is among them. */
  visibleRows({ columns, maxRows }: { readonly columns: number; readonly maxRows: number }): VisibleRows {
    this.#columns = columns;
    const rows = this.#layout.rowsOf(this.#buffer, columns);
    const { row, column } = placeInRows(rows, this.#buffer.cursor);
    const count = Math.min(rows.length, Math.max(1, maxRows));
    this.#top = Math.max(row - count + 1, Math.min(this.#top, row, rows.length - count));
    const visible = rows.slice(this.#top, this.#top + count);
    const below = rows.length - this.#top - count;
    return { rows: visible, cursor: { row: row - this.#top, column }, above: this.#top, below };
  }

  #completionRange(): CompletionRange | undefined {
    if (this.#search !== undefined) return undefined;
    return completionAt(this.#buffer.text, this.#buffer.cursor);
  }

  #paste(text: string): "changed" {
    if (this.#search === undefined) this.#buffer.paste(text);
    else this.#search.paste(text);
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
    return "changed";
  }

  #pressInSearch(search: HistorySearch, key: NamedKey): "changed" {
    const outcome = search.press(key);
    if (outcome === "searching") return "changed";
    this.#search = undefined;
    if (outcome === "taken" && search.text !== undefined) this.#buffer.setText(search.text);
    return "changed";
  }

  #moveRow(by: -1 | 1): boolean {
    const rows = this.#layout.rowsOf(this.#buffer, this.#columns);
    const { row, column } = placeInRows(rows, this.#buffer.cursor);
    this.#column ??= column;
    const target = rows[row + by];
    if (target === undefined) return this.#moveInHistory(by);
    this.#buffer.moveTo(placeAtColumn(target, this.#column));
    return true;
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
