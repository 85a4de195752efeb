import type { Key } from "../screen/key.js";
import { cellWidth } from "../screen/cells.js";
import { cleanLine, fitText } from "./rows.js";
import type { Theme, View } from "./view.js";

export interface PagerSource {
  readonly title: string;
  /** All lines. Called again when the width or the theme changes. */
  lines(view: View): readonly string[];
}

/** SGR and OSC 8, which lines of the screen may contain. */
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const sequences = /\u001b\[[0-9;:]*m|\u001b\]8;[^\u0007\u001b]*(?:\u0007|\u001b\\)/g;
const maxQueryChars = 200;

/** The new top row for each key; `ctrl-` and `alt-` stand before the key's name. */
const moves: Readonly<Record<string, (top: number, page: number, last: number) => number>> = {
  up: (top) => top - 1,
  k: (top) => top - 1,
  down: (top) => top + 1,
  j: (top) => top + 1,
  enter: (top) => top + 1,
  pageup: (top, page) => top - page,
  b: (top, page) => top - page,
  "ctrl-b": (top, page) => top - page,
  pagedown: (top, page) => top + page,
  " ": (top, page) => top + page,
  f: (top, page) => top + page,
  "ctrl-f": (top, page) => top + page,
  "ctrl-u": (top, page) => top - Math.ceil(page / 2),
  "ctrl-d": (top, page) => top + Math.ceil(page / 2),
  home: () => 0,
  g: () => 0,
  end: (_top, _page, last) => last,
  G: (_top, _page, last) => last,
};
const closing = new Set(["q", "escape", "ctrl-c", "ctrl-o"]);

/** A text on the alternate screen, to be scrolled and searched. */
export class Pager {
  readonly #source: PagerSource;
  #top = 0;
  #page = 1;
  #lines: readonly string[] = [];
  #view: View | undefined;
  /** The search that is being typed. */
  #typed: string | undefined;
  #query = "";
  /** The line that the last search has found; undefined after the text was moved. */
  #found: number | undefined;
  #isMissing = false;

  constructor(source: PagerSource) {
    this.#source = source;
  }

  press(key: Key): "changed" | "closed" | "ignored" {
    if (this.#typed !== undefined) return this.#type(key, this.#typed);
    if (key.type === "paste") return "ignored";
    const name = nameOf(key);
    if (closing.has(name)) return "closed";
    if (name === "/") return this.#startSearch();
    if (name === "n") return this.#search((this.#found ?? this.#top - 1) + 1, 1);
    if (name === "N") return this.#search((this.#found ?? this.#top) - 1, -1);
    const move = moves[name];
    if (move === undefined) return "ignored";
    return this.#moveTo(move(this.#top, this.#page, this.#lastTop));
  }

  /** The rows of the screen: the text, and a line with the keys at the bottom. */
  rows(view: View, rows: number): string[] {
    if (this.#view?.columns !== view.columns || this.#view.theme !== view.theme) {
      const before = Math.max(1, this.#lines.length);
      this.#lines = this.#source.lines(view);
      // About the same place in the text, which has more or fewer lines now.
      this.#top = Math.round((this.#top * this.#lines.length) / before);
      this.#view = view;
    }
    this.#page = Math.max(1, rows - 1);
    if (this.#found !== undefined && this.#found >= this.#lines.length) this.#found = undefined;
    this.#top = Math.max(0, Math.min(this.#top, this.#lastTop));
    const shown = this.#lines.slice(this.#top, this.#top + this.#page).map((line) => this.#marked(line, view.theme));
    const empty = Array.from({ length: this.#page - shown.length }, () => "");
    return [...shown, ...empty, this.#statusLine(view)].slice(-Math.max(0, rows));
  }

  get #lastTop(): number {
    return Math.max(0, this.#lines.length - this.#page);
  }

  #moveTo(line: number): "changed" | "ignored" {
    const top = Math.max(0, Math.min(line, this.#lastTop));
    const isChanged = top !== this.#top || this.#isMissing;
    this.#isMissing = false;
    this.#found = undefined;
    this.#top = top;
    return isChanged ? "changed" : "ignored";
  }

  #startSearch(): "changed" {
    this.#typed = "";
    this.#isMissing = false;
    return "changed";
  }

  #type(key: Key, typed: string): "changed" | "closed" | "ignored" {
    if (key.type === "paste") return this.#setTyped(typed + cleanLine(key.text));
    const name = nameOf(key);
    if (name === "ctrl-c" || name === "escape" || (name === "backspace" && typed === "")) {
      this.#typed = undefined;
      return "changed";
    }
    if (name === "enter") {
      this.#typed = undefined;
      this.#query = typed === "" ? this.#query : typed;
      return this.#search(this.#top, 1);
    }
    if (name === "backspace") return this.#setTyped(Array.from(typed).slice(0, -1).join(""));
    const isText = !key.ctrl && !key.alt && Array.from(key.name).length === 1;
    return isText ? this.#setTyped(typed + key.name) : "ignored";
  }

  #setTyped(text: string): "changed" {
    this.#typed = cleanLine(text).slice(0, maxQueryChars);
    return "changed";
  }

  /** Goes to the next line with the query, from one end of the text to the other. */
  #search(from: number, step: 1 | -1): "changed" | "ignored" {
    if (this.#query === "") return "ignored";
    const count = this.#lines.length;
    const query = this.#query.toLowerCase();
    for (let tried = 0; tried < count; tried += 1) {
      const index = (((from + step * tried) % count) + count) % count;
      if (
        plain(this.#lines[index] ?? "")
          .toLowerCase()
          .includes(query)
      ) {
        // A line that is on the screen already needs no move.
        if (index < this.#top || index >= this.#top + this.#page) this.#top = index;
        this.#found = index;
        this.#isMissing = false;
        return "changed";
      }
    }
    this.#isMissing = true;
    return "changed";
  }

  /** A line with the query is shown without its own styles. */
  #marked(line: string, theme: Theme): string {
    if (this.#query === "") return line;
    const text = plain(line);
    const start = text.toLowerCase().indexOf(this.#query.toLowerCase());
    if (start === -1) return line;
    const end = start + this.#query.length;
    return text.slice(0, start) + theme.accent(theme.underline(theme.bold(text.slice(start, end)))) + text.slice(end);
  }

  #statusLine({ columns, theme }: View): string {
    if (this.#typed !== undefined) return theme.accent(tailOf(`/${this.#typed}▏`, columns));
    const count = this.#lines.length;
    const last = Math.min(count, this.#top + this.#page);
    const where = count === 0 ? "empty" : `${this.#top + 1}-${last} of ${count}`;
    const title = fitText(cleanLine(this.#source.title), Math.max(8, columns - 50));
    const missing = this.#isMissing ? `not found: ${this.#query}` : undefined;
    const keys = missing ?? "↑↓ scroll · / search · q close";
    const line = fitText(` · ${where} · ${keys}`, columns - cellWidth(title));
    return theme.bold(title) + (missing === undefined ? theme.dim(line) : theme.warning(line));
  }
}

function nameOf(key: Extract<Key, { type: "key" }>): string {
  return `${key.ctrl ? "ctrl-" : ""}${key.alt ? "alt-" : ""}${key.name}`;
}

function plain(line: string): string {
  return line.includes("\u001b") ? line.replaceAll(sequences, "") : line;
}

/** The end of a text that fits into the cells. */
function tailOf(text: string, cells: number): string {
  let start = 0;
  while (cellWidth(text.slice(start)) > cells) start += 1;
  return text.slice(start);
}
