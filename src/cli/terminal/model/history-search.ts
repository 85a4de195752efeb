import { graphemesOf } from "../screen/cells.js";
import { keyName, type NamedKey, typedCharacter } from "./editing.js";
import type { FoundText, PromptHistory } from "./prompt-history.js";

const maxQueryChars = 200;

/** `taken` and `left`: the search is over, and the editor has the found text or the text from before. */
type SearchOutcome = "searching" | "taken" | "left";

/** Ctrl-R: finds an earlier text by a part of it, while the part is typed. */
export class HistorySearch {
  readonly #history: PromptHistory;
  #query = "";
  #found: FoundText | undefined;
  #isFound = true;

  constructor(history: PromptHistory) {
    this.#history = history;
  }

  get query(): string {
    return this.#query;
  }

  /** False if no text contains the query; then the text that was found before is still shown. */
  get isFound(): boolean {
    return this.#isFound;
  }

  get found(): FoundText | undefined {
    return this.#found;
  }

  press(key: NamedKey): SearchOutcome {
    const character = typedCharacter(key);
    if (character !== undefined) return this.#searchFor(this.#query + character);
    switch (keyName(key)) {
      case "backspace":
      case "ctrl+h":
        this.#found = undefined;
        return this.#searchFor(graphemesOf(this.#query).slice(0, -1).join(""));
      case "ctrl+r":
      case "up":
        return this.#move("older");
      case "ctrl+s":
      case "down":
        return this.#move("newer");
      case "escape":
      case "ctrl+c":
      case "ctrl+g":
        return "left";
      default:
        return "taken";
    }
  }

  paste(text: string): void {
    this.#searchFor(this.#query + text.trim());
  }

  #searchFor(query: string): "searching" {
    this.#query = query.slice(0, maxQueryChars);
    if (query === "") [this.#found, this.#isFound] = [undefined, true];
    else this.#find(this.#found?.back ?? 1, "older");
    return "searching";
  }

  #move(direction: "older" | "newer"): "searching" {
    const back = this.#found?.back ?? 0;
    if (this.#query !== "") this.#find(direction === "older" ? back + 1 : back - 1, direction);
    return "searching";
  }

  #find(from: number, direction: "older" | "newer"): void {
    const found = this.#history.search(this.#query, from, direction);
    this.#isFound = found !== undefined;
    this.#found = found ?? this.#found;
  }
}
