import { lastLines, LineReader, linesOf, shownLine, ShownLines } from "../../../base/text/shown-lines.js";
import { maxDeltaBytes, maxDeltas } from "../../../tools/exec/exec-events.js";

/** What a running command prints, as it is shown: a bounded part of it, indented, and nothing a terminal obeys. */
export class ShownOutput {
  readonly #streams = { stdout: new LineReader(), stderr: new LineReader() };
  readonly #lines = new ShownLines();
  #bytes = 0;
  #deltas = 0;

  /** Whether nothing has been printed yet. */
  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** What is to be shown now. */
  add(stream: "stdout" | "stderr", bytes: Uint8Array): string {
    this.#bytes += bytes.length;
    this.#deltas += 1;
    return this.#lines.add(this.#streams[stream].read(bytes));
  }

  /** What is still to be shown; `ends` hold the end of each stream, which was not told if there was very much. */
  end(ends?: { readonly stdout: string; readonly stderr: string }): string {
    const rest = this.#lines.add([...this.#streams.stdout.end(), ...this.#streams.stderr.end()]);
    if (ends !== undefined && (this.#bytes >= maxDeltaBytes || this.#deltas >= maxDeltas)) {
      const last = [ends.stdout, ends.stderr].flatMap((text) => linesOf(text).slice(-lastLines));
      return `${rest}  … many more lines\n${last.map(shownLine).join("")}`;
    }
    return rest + this.#lines.end();
  }
}
