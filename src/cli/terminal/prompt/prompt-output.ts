import { Writable } from "node:stream";
import { type OutputStream, reportedColumns } from "../output.js";

/** Asks the terminal to mark what is pasted, and no longer. */
const [markPastes, leavePastes] = ["\u001b[?2004h", "\u001b[?2004l"];

/** What readline draws, so that it can be kept from drawing into an answer. */
export class PromptOutput extends Writable {
  hidden = true;
  #marksPastes = false;
  readonly #stream: OutputStream;
  readonly #onResize = (): void => void this.emit("resize");

  constructor(stream: OutputStream) {
    super({ decodeStrings: false });
    this.#stream = stream;
    stream.on("resize", this.#onResize);
  }

  /** Where it is not known, readline takes a line for one row. */
  get columns(): number | undefined {
    return reportedColumns(this.#stream);
  }

  /** For a terminal that knows how: others would show the wish as text. */
  markPastes(): void {
    this.#marksPastes = true;
    this.#stream.write(markPastes);
  }

  /** Leaves nothing behind on the stream, which goes on. */
  release(): void {
    if (this.#marksPastes) this.#stream.write(leavePastes);
    this.#stream.off("resize", this.#onResize);
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, callback: () => void): void {
    if (!this.hidden) this.#stream.write(chunk);
    callback();
  }
}
