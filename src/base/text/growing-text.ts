/** Many short strings take more memory than the joined text. */
const maxPieces = 64;

/**
 * Text that arrives in pieces and is joined when it is read, because a string grown with `+=` keeps every piece alive.
 * Pieces are joined in groups, so that a long text is not copied again for every few pieces.
 */
export class GrowingText {
  #groups: string[] = [];
  #pieces: string[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: string): void {
    if (piece === "") return;
    this.#length += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length < maxPieces) return;
    this.#groups.push(this.#pieces.join(""));
    this.#pieces = [];
  }

  toString(): string {
    if (this.#groups.length === 0 && this.#pieces.length <= 1) return this.#pieces[0] ?? "";
    if (this.#groups.length > 1 || this.#pieces.length > 0) {
      this.#groups = [[...this.#groups, ...this.#pieces].join("")];
      this.#pieces = [];
    }
    return this.#groups[0] ?? "";
  }
}
