import { cleanLines, wrapText } from "./rows.js";
import type { View } from "./view.js";

/** Markdown that arrives in pieces. Finished blocks are returned once; the open block is small. */
export class MarkdownStream {
  #text = "";

  push(text: string): void {
    this.#text += text;
  }

  /** The lines of the blocks that have become final since the last call. */
  takeFinished(_view: View): string[] {
    return [];
  }

  /** The last lines of the text that is not final yet. */
  openLines(view: View, maxRows: number): string[] {
    return this.#text === "" ? [] : markdownLines(this.#text, view).slice(-maxRows);
  }

  /** The text is complete. Returns the lines that `takeFinished` has not returned. */
  end(view: View): string[] {
    const text = this.#text;
    this.#text = "";
    return text === "" ? [] : markdownLines(text, view);
  }
}

export function markdownLines(text: string, view: View): string[] {
  return cleanLines(text).flatMap((line) => wrapText(line, view.columns));
}
