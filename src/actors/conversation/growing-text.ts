/** So many pieces take more memory than what they make. */
const maxPieces = 256;

/** Text that comes in pieces. Joined when it is asked for: a string grown piece by piece keeps every piece. */
export class GrowingText {
  #pieces: string[] = [];

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length >= maxPieces) this.#join();
  }

  toString(): string {
    if (this.#pieces.length > 1) this.#join();
    return this.#pieces[0] ?? "";
  }

  #join(): void {
    this.#pieces = [this.#pieces.join("")];
  }
}
