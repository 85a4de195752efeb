import { StringDecoder } from "node:string_decoder";
import { maxDeltaBytes, maxDeltas } from "../../tools/exec-events.js";
import { harmless } from "../harmless.js";
import { shortened } from "../shortened.js";

/** Shown as they come; of what follows only the end is shown, when it is known which lines are the end. */
const liveLines = 10;
const lastLines = 5;
const maxLineChars = 500;

/** What a running command prints, as it is shown: a bounded part of it, indented, and nothing a terminal obeys. */
export class ShownOutput {
  readonly #streams = { stdout: new LineReader(), stderr: new LineReader() };
  #bytes = 0;
  #deltas = 0;
  #shown = 0;
  #notShown = 0;
  readonly #last: string[] = [];

  /** Whether nothing has been printed yet. */
  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** What is to be shown now. */
  add(stream: "stdout" | "stderr", bytes: Uint8Array): string {
    this.#bytes += bytes.length;
    this.#deltas += 1;
    return this.#show(this.#streams[stream].read(bytes));
  }

  /** What is still to be shown; `ends` hold the end of each stream, which was not told if there was very much. */
  end(ends?: { readonly stdout: string; readonly stderr: string }): string {
    const rest = this.#show([...this.#streams.stdout.end(), ...this.#streams.stderr.end()]);
    if (ends !== undefined && (this.#bytes >= maxDeltaBytes || this.#deltas >= maxDeltas)) {
      const last = [ends.stdout, ends.stderr].flatMap((text) => linesOf(text).slice(-lastLines));
      return `${rest}  … many more lines\n${last.map(shownLine).join("")}`;
    }
    const left = this.#notShown - this.#last.length;
    const gap = left > 0 ? `  … ${left} more lines\n` : "";
    return rest + gap + this.#last.join("");
  }

  #show(lines: readonly string[]): string {
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
}

function shownLine(line: string): string {
  return `  ${harmless(shortened(line, maxLineChars))}\n`;
}

function linesOf(text: string): string[] {
  const reader = new LineReader();
  return [...reader.read(Buffer.from(text)), ...reader.end()];
}

/** The lines of one stream, each cut to a bound. A carriage return begins its line anew, as it does on a terminal. */
class LineReader {
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
