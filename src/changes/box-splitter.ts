import { approximateRoot } from "./approximate-root.js";

/** A part of the comparison: from one place in both sequences to another. */
interface Box {
  readonly left: number;
  readonly leftEnd: number;
  readonly right: number;
  readonly rightEnd: number;
  /** Whether the shortest script is looked for, however long that takes. */
  readonly exact: boolean;
}

interface Point {
  readonly left: number;
  readonly right: number;
}

interface Split extends Point {
  readonly exactBefore: boolean;
  readonly exactAfter: boolean;
}

/** One step of a search: whether it came through many equal lines, and where it met the other search. */
interface Advance {
  readonly sawRun: boolean;
  readonly met?: Point;
}

export interface Differences {
  onlyLeft(place: number): void;
  onlyRight(place: number): void;
}

/** From so many differences on a box may be split at a long run of equal lines, though a better place may exist. */
const hurriedFrom = 256;
/** Equal lines in a row that are such a run. */
const longRun = 20;
/** By how much a run must be ahead of the differences it has cost. */
const worthwhile = 4;
const leastPatience = 256;
const farthest = 0x7fffffff;

/**
 * Myers' comparison by halves ("An O(ND) Difference Algorithm and Its Variations", 1986, chapter 4b): a box is searched from both of its
 * corners until the searches meet, and split there. Its time is bounded as git bounds it: after many differences a place that is merely
 * good is taken.
 */
export class BoxSplitter {
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #forward: Frontier;
  readonly #backward: Frontier;
  readonly #patience: number;

  constructor(left: Int32Array, right: Int32Array) {
    this.#left = left;
    this.#right = right;
    const diagonals = left.length + right.length + 3;
    this.#forward = new Frontier(diagonals, right.length + 1, -1);
    this.#backward = new Frontier(diagonals, right.length + 1, farthest);
    this.#patience = Math.max(approximateRoot(diagonals), leastPatience);
  }

  compare(differences: Differences): void {
    const boxes: Box[] = [
      { left: 0, leftEnd: this.#left.length, right: 0, rightEnd: this.#right.length, exact: false },
    ];
    for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
      const { left, leftEnd, right, rightEnd, exact } = this.#shrunk(box);
      if (left === leftEnd) for (let place = right; place < rightEnd; place += 1) differences.onlyRight(place);
      else if (right === rightEnd) for (let place = left; place < leftEnd; place += 1) differences.onlyLeft(place);
      else {
        const at = this.#split({ left, leftEnd, right, rightEnd, exact });
        boxes.push({ left, leftEnd: at.left, right, rightEnd: at.right, exact: at.exactBefore });
        boxes.push({ left: at.left, leftEnd, right: at.right, rightEnd, exact: at.exactAfter });
      }
    }
  }

  /** Without the equal lines at its two corners. */
  #shrunk(box: Box): Box {
    let { left, leftEnd, right, rightEnd } = box;
    while (left < leftEnd && right < rightEnd && this.#left[left] === this.#right[right]) {
      left += 1;
      right += 1;
    }
    while (left < leftEnd && right < rightEnd && this.#left[leftEnd - 1] === this.#right[rightEnd - 1]) {
      leftEnd -= 1;
      rightEnd -= 1;
    }
    return { left, leftEnd, right, rightEnd, exact: box.exact };
  }

  #split(box: Box): Split {
    this.#forward.start(box.left - box.right, box.left);
    this.#backward.start(box.leftEnd - box.rightEnd, box.leftEnd);
    const [least, most] = [box.left - box.rightEnd, box.leftEnd - box.right];
    // The searches are one step apart, so by the parity of their distance only one of them can find the other.
    const forwardMeets = (this.#forward.middle - this.#backward.middle) % 2 !== 0;
    for (let cost = 1; ; cost += 1) {
      this.#forward.widen(least, most);
      const ahead = this.#goForward(box, forwardMeets);
      if (ahead.met !== undefined) return { ...ahead.met, exactBefore: true, exactAfter: true };
      this.#backward.widen(least, most);
      const back = this.#goBackward(box, !forwardMeets);
      if (back.met !== undefined) return { ...back.met, exactBefore: true, exactAfter: true };
      if (box.exact) continue;
      const run =
        cost > hurriedFrom && (ahead.sawRun || back.sawRun)
          ? (this.#runAhead(box, cost) ?? this.#runBack(box, cost))
          : undefined;
      if (run !== undefined) return run;
      if (cost >= this.#patience) return this.#furthest(box);
    }
  }

  #goForward({ leftEnd, rightEnd }: Box, mayMeet: boolean): Advance {
    const [frontier, other] = [this.#forward, this.#backward];
    let sawRun = false;
    for (let diagonal = frontier.highest; diagonal >= frontier.lowest; diagonal -= 2) {
      const from = Math.max(frontier.at(diagonal - 1) + 1, frontier.at(diagonal + 1));
      let place = from;
      while (place < leftEnd && place - diagonal < rightEnd && this.#isEqual(place, place - diagonal)) place += 1;
      sawRun ||= place - from > longRun;
      frontier.set(diagonal, place);
      if (mayMeet && other.covers(diagonal) && other.at(diagonal) <= place) {
        return { sawRun, met: { left: place, right: place - diagonal } };
      }
    }
    return { sawRun };
  }

  #goBackward({ left, right }: Box, mayMeet: boolean): Advance {
    const [frontier, other] = [this.#backward, this.#forward];
    let sawRun = false;
    for (let diagonal = frontier.highest; diagonal >= frontier.lowest; diagonal -= 2) {
      const from = Math.min(frontier.at(diagonal - 1), frontier.at(diagonal + 1) - 1);
      let place = from;
      while (place > left && place - diagonal > right && this.#isEqual(place - 1, place - diagonal - 1)) place -= 1;
      sawRun ||= from - place > longRun;
      frontier.set(diagonal, place);
      if (mayMeet && other.covers(diagonal) && place <= other.at(diagonal)) {
        return { sawRun, met: { left: place, right: place - diagonal } };
      }
    }
    return { sawRun };
  }

  /** The best end of a long run of equal lines the search from the beginning has come through. */
  #runAhead(box: Box, cost: number): Split | undefined {
    const frontier = this.#forward;
    let best = worthwhile * cost;
    let found: Point | undefined;
    for (let diagonal = frontier.highest; diagonal >= frontier.lowest; diagonal -= 2) {
      const left = frontier.at(diagonal);
      const right = left - diagonal;
      const gain = left - box.left + (right - box.right) - Math.abs(diagonal - frontier.middle);
      const isInside =
        box.left + longRun <= left && left < box.leftEnd && box.right + longRun <= right && right < box.rightEnd;
      if (gain > best && isInside && this.#isRun(left - longRun, right - longRun)) {
        best = gain;
        found = { left, right };
      }
    }
    return found && { ...found, exactBefore: true, exactAfter: false };
  }

  /** The best beginning of one the search from the end has come through. */
  #runBack(box: Box, cost: number): Split | undefined {
    const frontier = this.#backward;
    let best = worthwhile * cost;
    let found: Point | undefined;
    for (let diagonal = frontier.highest; diagonal >= frontier.lowest; diagonal -= 2) {
      const left = frontier.at(diagonal);
      const right = left - diagonal;
      const gain = box.leftEnd - left + (box.rightEnd - right) - Math.abs(diagonal - frontier.middle);
      const isInside =
        box.left < left && left <= box.leftEnd - longRun && box.right < right && right <= box.rightEnd - longRun;
      if (gain > best && isInside && this.#isRun(left, right)) {
        best = gain;
        found = { left, right };
      }
    }
    return found && { ...found, exactBefore: false, exactAfter: true };
  }

  /** Where one of the searches has come furthest into the box, when both have taken too long. */
  #furthest(box: Box): Split {
    const ahead = this.#furthestAhead(box);
    const back = this.#furthestBack(box);
    const isAhead =
      box.leftEnd + box.rightEnd - (back.left + back.right) < ahead.left + ahead.right - (box.left + box.right);
    return isAhead
      ? { ...ahead, exactBefore: true, exactAfter: false }
      : { ...back, exactBefore: false, exactAfter: true };
  }

  #furthestAhead({ leftEnd, rightEnd }: Box): Point {
    const frontier = this.#forward;
    let best: Point = { left: -1, right: 0 };
    for (let diagonal = frontier.highest; diagonal >= frontier.lowest; diagonal -= 2) {
      const left = Math.min(frontier.at(diagonal), leftEnd, rightEnd + diagonal);
      if (best.left + best.right < 2 * left - diagonal) best = { left, right: left - diagonal };
    }
    return best;
  }

  #furthestBack({ left: start, right: rightStart }: Box): Point {
    const frontier = this.#backward;
    let best: Point = { left: farthest, right: 0 };
    for (let diagonal = frontier.highest; diagonal >= frontier.lowest; diagonal -= 2) {
      const left = Math.max(frontier.at(diagonal), start, rightStart + diagonal);
      if (2 * left - diagonal < best.left + best.right) best = { left, right: left - diagonal };
    }
    return best;
  }

  #isEqual(left: number, right: number): boolean {
    return this.#left[left] === this.#right[right];
  }

  #isRun(left: number, right: number): boolean {
    for (let count = 0; count < longRun; count += 1) if (!this.#isEqual(left + count, right + count)) return false;
    return true;
  }
}

/** How far a search has come on each diagonal; a diagonal is a place on the left less one on the right. */
class Frontier {
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
