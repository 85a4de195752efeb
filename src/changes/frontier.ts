/** How far a search has come on each diagonal; a diagonal is a place on the left less one on the right. */
export class Frontier {
  readonly #reached: Int32Array;
  readonly #offset: number;
  /** What stands beside the outermost diagonals: worse than any place. */
  readonly #nowhere: number;
  middle = 0;
  lowest = 0;
  highest = 0;

  constructor(diagonals: number, offset: number, nowhere: number) {
    this.#reached = new Int32Array(diagonals);
    this.#offset = offset;
    this.#nowhere = nowhere;
  }

  start(diagonal: number, place: number): void {
    this.middle = diagonal;
    this.lowest = diagonal;
    this.highest = diagonal;
    this.set(diagonal, place);
  }

  /** One diagonal more on each side; at the border of the box one less, so that every second one is looked at. */
  widen(least: number, most: number): void {
    if (this.lowest > least) {
      this.lowest -= 1;
      this.set(this.lowest - 1, this.#nowhere);
    } else this.lowest += 1;
    if (this.highest < most) {
      this.highest += 1;
      this.set(this.highest + 1, this.#nowhere);
    } else this.highest -= 1;
  }

  at(diagonal: number): number {
    return this.#reached[diagonal + this.#offset] ?? this.#nowhere;
  }

  set(diagonal: number, place: number): void {
    this.#reached[diagonal + this.#offset] = place;
  }

  covers(diagonal: number): boolean {
    return this.lowest <= diagonal && diagonal <= this.highest;
  }
}
