import type { MemoryBudget } from "../../../tools/exec/whole-output.js";

/** Maximum bytes of outputs waiting to be written, over all conversations. */
const maxOutputBytes = 64 * 1024 * 1024;

/** Bounds the memory that all running calls of a process use for outputs to be stored. */
export class OutputMemory implements MemoryBudget {
  #left: number;

  constructor(bytes = maxOutputBytes) {
    this.#left = bytes;
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}
