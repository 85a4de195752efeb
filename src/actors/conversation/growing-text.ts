/** Text that comes in pieces. Joined when it is asked for: a string grown piece by piece keeps every piece. */
export class GrowingText {
  #pieces: string[] = [];

  add(piece: string): void {
    this.#pieces.push(piece);
  }

  toString(): string {
    if (this.#pieces.length > 1) this.#pieces = [this.#pieces.join("")];
    return this.#pieces[0] ?? "";
  }
}
