import { StringDecoder } from "node:string_decoder";
import { counted } from "./counted.js";
import { harmless } from "./harmless.js";
import { shortened } from "./truncate.js";

/** The first lines are shown as they arrive. Of the rest, only the last ones are shown, once the output has ended. */
const liveLines = 10;
export const lastLines = 5;
const maxLineChars = 500;

/** Shows a bounded part of many lines, indented and without control characters. */
export class ShownLines {
  #shownCount = 0;
  #skippedCount = 0;
  readonly #last: string[] = [];

  /** Returns the text to show now. */
  add(lines: readonly string[]): string {
    let text = "";
    for (const line of lines) {
      const display = shownLine(line);
      if (this.#shownCount < liveLines) {
        this.#shownCount += 1;
        text += display;
      } else {
        this.#skippedCount += 1;
        this.#last.push(display);
        if (this.#last.length > lastLines) this.#last.shift();
      }
    }
    return text;
  }

  /** Returns the text still to be shown: the number of skipped lines and the last lines. */
  end(): string {
    const left = this.#skippedCount - this.#last.length;
    return (left > 0 ? `  … ${counted(left, "more line")}\n` : "") + this.#last.join("");
  }
}

/** Like `ShownLines`, for a complete text. */
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

/** Splits one stream into lines of bounded length. A carriage return restarts its line, as it does on a terminal. */
export class LineReader {
  readonly #decoder = new StringDecoder("utf8");
  #line = "";
  #overwrite = false;

  read(bytes: Uint8Array): string[] {
    return this.#completeLines(this.#decoder.write(Buffer.from(bytes)));
  }

  end(): string[] {
    const lines = this.#completeLines(this.#decoder.end());
    return this.#line === "" ? lines : [...lines, this.#line];
  }

  #completeLines(text: string): string[] {
    const lines: string[] = [];
    for (const piece of text.split(/([\r\n])/)) {
      if (piece === "\n") {
        lines.push(this.#line);
        this.#line = "";
        this.#overwrite = false;
      } else if (piece === "\r") {
        this.#overwrite = true;
      } else if (piece !== "") {
        // Keep one character more than is shown, so that `shownLine` can tell that the line was cut.
        this.#line = ((this.#overwrite ? "" : this.#line) + piece).slice(0, maxLineChars + 1);
        this.#overwrite = false;
      }
    }
    return lines;
  }
}
