import type { Room } from "../../../tools/exec/whole-output.js";

/** Outputs on their way to the disk, of all conversations together. */
const maxBytes = 64 * 1024 * 1024;

/** Bounds what all running calls of a process keep in memory for the sake of being looked up later. */
export class OutputRoom implements Room {
  #left: number;

  constructor(bytes = maxBytes) {
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
