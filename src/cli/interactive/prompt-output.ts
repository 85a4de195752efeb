import { Writable } from "node:stream";
import type { OutputStream } from "../output.js";

/** What readline draws, so that it can be kept from drawing into an answer. */
export class PromptOutput extends Writable {
  hidden = true;
  readonly #stream: OutputStream;
  readonly #onResize = (): void => void this.emit("resize");

  constructor(stream: OutputStream) {
    super({ decodeStrings: false });
    this.#stream = stream;
    stream.on("resize", this.#onResize);
  }

  get columns(): number | undefined {
    return this.#stream.columns;
  }

  /** Leaves nothing behind on the stream, which goes on. */
  release(): void {
    this.#stream.off("resize", this.#onResize);
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, callback: () => void): void {
    if (!this.hidden) this.#stream.write(chunk);
    callback();
  }
}
