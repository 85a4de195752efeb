/** A memory budget that all calls of a process share. */
export interface MemoryBudget {
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** The maximum size of an output that is kept whole; of a longer one, the beginning is kept. */
const maxWholeBytes = 10 * 1024 * 1024;

/** Keeps the whole output of a call as long as the memory budget allows. Its creator must dispose it. */
export class WholeOutput implements Disposable {
  readonly #room: MemoryBudget;
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #status: "whole" | "beginning" | "lost" = "whole";

  constructor(room: MemoryBudget, maxBytes = maxWholeBytes) {
    this.#room = room;
    this.#maxBytes = maxBytes;
  }

  push(bytes: Uint8Array): void {
    if (this.#status !== "whole" || bytes.length === 0) return;
    const piece = bytes.subarray(0, this.#maxBytes - this.#bytes);
    if (!this.#room.take(piece.length)) {
      this[Symbol.dispose]();
      this.#status = "lost";
      return;
    }
    this.#pieces.push(Buffer.from(piece));
    this.#bytes += piece.length;
    if (piece.length < bytes.length) this.#status = "beginning";
  }

  /** Undefined if the memory budget was exhausted. */
  get text(): string | undefined {
    return this.#status === "lost" ? undefined : Buffer.concat(this.#pieces).toString();
  }

  [Symbol.dispose](): void {
    this.#room.give(this.#bytes);
    this.#pieces = [];
    this.#bytes = 0;
  }
}
