/** A rectangle of the comparison: a range of the left sequence against a range of the right one. */
interface Box {
  readonly left: number;
  readonly leftEnd: number;
  readonly right: number;
  readonly rightEnd: number;
  /** Whether to search for the shortest script, however long that takes. */
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

/** Result of one search step: whether it passed a long run of equal lines, and where it met the other search. */
interface Advance {
  readonly sawRun: boolean;
  readonly met?: Point;
}

interface Differences {
  onlyLeft(place: number): void;
  onlyRight(place: number): void;
}

/** Above this cost a box may be split at a long run of equal lines, even though a better place may exist. */
const longRunCost = 256;
/** Number of consecutive equal lines that make a long run. */
const longRun = 20;
/** A run is used only if its gain is more than this many times the cost so far. */
const minGainRatio = 4;
const minCostLimit = 256;
const farthest = 0x7fffffff;

/**
 * Divide-and-conquer comparison by Myers ("An O(ND) Difference Algorithm and Its Variations", 1986, chapter 4b):
 * searches a box from both corners until the searches meet, and splits it there. The time is bounded as in git: after
 * many differences the search settles for a good place instead of the best.
 */
export class BoxSplitter {
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #forward: Frontier;
  readonly #backward: Frontier;
  readonly #costLimit: number;

  constructor(left: Int32Array, right: Int32Array) {
    this.#left = left;
    this.#right = right;
    const diagonals = left.length + right.length + 3;
    this.#forward = new Frontier(diagonals, right.length + 1, -1);
    this.#backward = new Frontier(diagonals, right.length + 1, farthest);
    this.#costLimit = Math.max(approximateRoot(diagonals), minCostLimit);
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

  /** Removes the equal lines at both corners. */
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
    // The searches advance alternately, so the parity of their distance decides which of them can meet the other.
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
        cost > longRunCost && (ahead.sawRun || back.sawRun)
          ? (this.#runAhead(box, cost) ?? this.#runBack(box, cost))
          : undefined;
      if (run !== undefined) return run;
      if (cost >= this.#costLimit) return this.#furthest(box);
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

  /** Returns the best end of a long run of equal lines that the forward search has passed. */
  #runAhead(box: Box, cost: number): Split | undefined {
    const frontier = this.#forward;
    let best = minGainRatio * cost;
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

  /** Returns the best beginning of a long run of equal lines that the backward search has passed. */
  #runBack(box: Box, cost: number): Split | undefined {
    const frontier = this.#backward;
    let best = minGainRatio * cost;
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

  /** Splits where one of the searches has come furthest into the box, when both have taken too long. */
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

/** The furthest place a search has reached on each diagonal, which is a left place minus a right place. */
class Frontier {
  readonly #reached: Int32Array;
  readonly #offset: number;
  /** Sentinel beside the outermost diagonals, worse than any real place. */
  readonly #unreached: number;
  middle = 0;
  lowest = 0;
  highest = 0;

  constructor(diagonals: number, offset: number, nowhere: number) {
    this.#reached = new Int32Array(diagonals);
    this.#offset = offset;
    this.#unreached = nowhere;
  }

  start(diagonal: number, place: number): void {
    this.middle = diagonal;
    this.lowest = diagonal;
    this.highest = diagonal;
    this.set(diagonal, place);
  }

  /**
   * Adds a diagonal on each side, or removes one at the border of the box, because each step visits every second
   * diagonal.
   */
  widen(least: number, most: number): void {
    if (this.lowest > least) {
      this.lowest -= 1;
      this.set(this.lowest - 1, this.#unreached);
    } else this.lowest += 1;
    if (this.highest < most) {
      this.highest += 1;
      this.set(this.highest + 1, this.#unreached);
    } else this.highest -= 1;
  }

  at(diagonal: number): number {
    return this.#reached[diagonal + this.#offset] ?? this.#unreached;
  }

  set(diagonal: number, place: number): void {
    this.#reached[diagonal + this.#offset] = place;
  }

  covers(diagonal: number): boolean {
    return this.lowest <= diagonal && diagonal <= this.highest;
  }
}

/** Returns a power of two near the square root, computed as in git's xdiff. */
export function approximateRoot(value: number): number {
  let root = 1;
  for (let rest = value; rest > 0; rest = Math.floor(rest / 4)) root *= 2;
  return root;
}
