import type { Key } from "../screen/key.js";
import type { View } from "../view/view.js";
import { graphemesOf } from "../screen/cells.js";
import { keyName, typedCharacter } from "./editing.js";
import { fuzzyFind } from "./fuzzy.js";

export interface MenuItem<T> {
  readonly value: T;
  /** The text in which the filter searches. */
  readonly label: string;
  readonly description?: string;
}

export interface MenuOptions<T> {
  readonly title: string;
  readonly items: readonly MenuItem<T>[];
  /** Lines about the selected item, shown beside the items where there is room. */
  readonly preview?: (value: T, view: View) => readonly string[];
  readonly filter?: "fuzzy" | "none";
  /** False if the query is typed elsewhere, in the editor: then the menu takes only the keys that move and choose. */
  readonly takesText?: boolean;
}

/** An item that matches the query, and where. */
export interface MenuRow<T> {
  readonly item: MenuItem<T>;
  readonly positions: readonly number[];
}

const maxRows = 1_000;
const maxQueryChars = 200;
/** PageUp and PageDown before the menu was shown. */
const usualPage = 10;

/** A list to choose from. */
export class Menu<T> {
  readonly title: string;
  readonly preview: MenuOptions<T>["preview"];
  readonly takesText: boolean;
  readonly #filter: "fuzzy" | "none";
  #items: readonly MenuItem<T>[];
  #query = "";
  #rows: readonly MenuRow<T>[] = [];
  #index = 0;
  #top = 0;
  #page = usualPage;

  constructor({ title, items, preview, filter = "fuzzy", takesText = filter === "fuzzy" }: MenuOptions<T>) {
    this.title = title;
    this.preview = preview;
    this.takesText = takesText;
    this.#filter = filter;
    this.#items = items;
    this.#match();
  }

  /** The items that match, best first. */
  get rows(): readonly MenuRow<T>[] {
    return this.#rows;
  }

  get index(): number {
    return this.#index;
  }

  get selected(): T | undefined {
    return this.#rows[this.#index]?.item.value;
  }

  get query(): string {
    return this.#query;
  }

  set query(query: string) {
    const bounded = query.slice(0, maxQueryChars);
    if (bounded === this.#query) return;
    this.#query = bounded;
    this.#match();
    this.#index = 0;
  }

  /** How many items there are, also those that do not match. */
  get size(): number {
    return this.#items.length;
  }

  /** Replaces the items; the selected value stays selected if it is still there. */
  setItems(items: readonly MenuItem<T>[]): void {
    const { selected } = this;
    this.#items = items;
    this.#match();
    const index = this.#rows.findIndex(({ item }) => item.value === selected);
    this.#index = index === -1 ? Math.min(this.#index, Math.max(0, this.#rows.length - 1)) : index;
  }

  /** Selects the item with this value, if there is one. */
  select(value: T): void {
    const index = this.#rows.findIndex(({ item }) => item.value === value);
    if (index !== -1) this.#index = index;
  }

  press(key: Key): "changed" | "chosen" | "closed" | "ignored" {
    if (key.type === "paste") return this.#type(key.text.trim().replaceAll(/\s+/g, " "));
    const character = typedCharacter(key);
    if (character !== undefined) return this.#type(character);
    switch (keyName(key)) {
      case "up":
      case "ctrl+p":
        return this.#move(-1, "around");
      case "down":
      case "ctrl+n":
        return this.#move(1, "around");
      case "pageup":
        return this.#move(-this.#page, "stop");
      case "pagedown":
        return this.#move(this.#page, "stop");
      case "home":
        return this.#move(-Infinity, "stop");
      case "end":
        return this.#move(Infinity, "stop");
      case "enter":
      case "tab":
        return this.selected === undefined ? "ignored" : "chosen";
      case "escape":
      case "ctrl+c":
        return "closed";
      case "backspace":
      case "ctrl+h":
        return this.#shorten(graphemesOf(this.#query).slice(0, -1).join(""));
      case "ctrl+w":
        return this.#shorten(this.#query.replace(/\S*\s*$/, ""));
      case "ctrl+u":
        return this.#shorten("");
      default:
        return "ignored";
    }
  }

  /** The rows to show, scrolled so that the selected one is among them. */
  visibleRows(maxVisible: number): { readonly rows: readonly MenuRow<T>[]; readonly top: number } {
    const count = Math.max(1, maxVisible);
    this.#page = count;
    const last = Math.max(0, this.#rows.length - count);
    this.#top = Math.max(this.#index - count + 1, Math.min(this.#top, this.#index, last), 0);
    return { rows: this.#rows.slice(this.#top, this.#top + count), top: this.#top };
  }

  #type(text: string): "changed" | "ignored" {
    if (!this.takesText || text === "") return "ignored";
    this.query += text;
    return "changed";
  }

  #shorten(query: string): "changed" | "ignored" {
    if (!this.takesText || query === this.#query) return "ignored";
    this.query = query;
    return "changed";
  }

  #move(by: number, atEnd: "around" | "stop"): "changed" | "ignored" {
    const { length } = this.#rows;
    if (length === 0) return "ignored";
    const target = this.#index + by;
    this.#index = atEnd === "around" ? (target + length) % length : Math.max(0, Math.min(length - 1, target));
    return "changed";
  }

  #match(): void {
    this.#rows =
      this.#filter === "none"
        ? this.#items.map((item) => ({ item, positions: [] }))
        : fuzzyFind(this.#query, this.#items, { limit: maxRows, textOf: ({ label }) => label }).map(
            ({ candidate, positions }) => ({ item: candidate, positions }),
          );
  }
}
