import { BoundedOutput } from "../../base/text/bounded-output.js";
import { unfinishedBytes } from "../../base/text/truncate.js";

type StreamName = "stdout" | "stderr";

/** Collects a command's output: each stream separately, and both merged in order of arrival. */
export class CommandOutput {
  readonly #keep: ((bytes: Uint8Array) => void) | undefined;
  readonly #kept = { stdout: new BoundedOutput(), stderr: new BoundedOutput(), merged: new BoundedOutput() };
  /**
   * The first bytes of an incomplete character, held back so that the other stream is not inserted in the middle of it.
   */
  readonly #unfinished: Record<StreamName, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

  /** `keep` receives the complete output of both streams, in order of arrival. */
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

  /** Returns the whole output; call it once no more will arrive. */
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
