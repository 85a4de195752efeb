import { BoundedOutput } from "./bounded-output.js";
import { unfinishedBytes } from "../../base/text/utf8-borders.js";

type StreamName = "stdout" | "stderr";

/** What a command wrote, each stream by itself and both in the order in which they came. */
export class CommandOutput {
  readonly #keep: ((bytes: Uint8Array) => void) | undefined;
  readonly #kept = { stdout: new BoundedOutput(), stderr: new BoundedOutput(), merged: new BoundedOutput() };
  /** The beginning of a character whose rest has not come: the other stream must not come between. */
  readonly #unfinished: Record<StreamName, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

  /** `keep` gets all of both, in the order in which they came. */
  constructor(keep?: (bytes: Uint8Array) => void) {
    this.#keep = keep;
  }

  push(stream: StreamName, chunk: Buffer): void {
    const rest = this.#unfinished[stream];
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.length - unfinishedBytes(bytes);
    this.#unfinished[stream] = Buffer.from(bytes.subarray(end));
    this.#add(stream, bytes.subarray(0, end));
  }

  /** All there is; no more will come. */
  end(): { readonly stdout: string; readonly stderr: string; readonly merged: string; readonly isCut: boolean } {
    this.#add("stdout", this.#unfinished.stdout);
    this.#add("stderr", this.#unfinished.stderr);
    const { stdout, stderr, merged } = this.#kept;
    return { stdout: stdout.text(), stderr: stderr.text(), merged: merged.text(), isCut: merged.isCut };
  }

  #add(stream: StreamName, bytes: Uint8Array): void {
    this.#kept[stream].push(bytes);
    this.#kept.merged.push(bytes);
    this.#keep?.(bytes);
  }
}
