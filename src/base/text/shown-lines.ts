import { StringDecoder } from "node:string_decoder";
import { counted } from "./counted.js";
import { harmless } from "./harmless.js";
import { shortened } from "./shortened.js";

/** Shown as they come; of what follows only the end is shown, when it is known which lines are the end. */
const liveLines = 10;
export const lastLines = 5;
const maxLineChars = 500;

/** A bounded part of many lines, indented, and nothing a terminal obeys. */
export class ShownLines {
  #shown = 0;
  #notShown = 0;
  readonly #last: string[] = [];

  /** What is to be shown now. */
  add(lines: readonly string[]): string {
    let text = "";
    for (const line of lines) {
      const shown = shownLine(line);
      if (this.#shown < liveLines) {
        this.#shown += 1;
        text += shown;
      } else {
        this.#notShown += 1;
        this.#last.push(shown);
        if (this.#last.length > lastLines) this.#last.shift();
      }
    }
    return text;
  }

  /** What is still to be shown. */
  end(): string {
    const left = this.#notShown - this.#last.length;
    return (left > 0 ? `  … ${counted(left, "more line")}\n` : "") + this.#last.join("");
  }
}

/** The same of a text that is there as a whole. */
export function shownText(text: string): string {
  const lines = new ShownLines();
  return lines.add(linesOf(text)) + lines.end();
}

export function shownLine(line: string): string {
  return `  ${harmless(shortened(line, maxLineChars))}\n`;
}

export function linesOf(text: string): string[] {
  const reader = new LineReader();
  return [...reader.read(Buffer.from(text)), ...reader.end()];
}

/** The lines of one stream, each cut to a bound. A carriage return begins its line anew, as it does on a terminal. */
export class LineReader {
  readonly #decoder = new StringDecoder("utf8");
  #line = "";
  #overwrite = false;

  read(bytes: Uint8Array): string[] {
    return this.#take(this.#decoder.write(Buffer.from(bytes)));
  }

  end(): string[] {
    const lines = this.#take(this.#decoder.end());
    return this.#line === "" ? lines : [...lines, this.#line];
  }

  #take(text: string): string[] {
    const lines: string[] = [];
    for (const piece of text.split(/([\r\n])/)) {
      if (piece === "\n") {
        lines.push(this.#line);
        this.#line = "";
        this.#overwrite = false;
      } else if (piece === "\r") {
        this.#overwrite = true;
      } else if (piece !== "") {
        // One more than is shown: then it is known that there was more.
        this.#line = ((this.#overwrite ? "" : this.#line) + piece).slice(0, maxLineChars + 1);
        this.#overwrite = false;
      }
    }
    return lines;
  }
}
