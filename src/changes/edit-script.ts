import { approximateRoot, BoxSplitter } from "./box-splitter.js";

/** A line that occurs this often in the other text says little about where it belongs. */
const maxFrequency = 1_024;

/** Maximum number of neighbours examined on each side of a frequent line. */
const maxNeighbours = 100;

/** A frequent line is not compared if more than three quarters of the lines around it occur in only one text. */
const frequentShare = 4;

/** A place where old lines are replaced by new ones; either count may be zero. */
export interface Edit {
  readonly oldAt: number;
  readonly oldCount: number;
  readonly newAt: number;
  readonly newCount: number;
}

/** Returns the edits between two texts, given as lines, in order. */
export function editScript(old: readonly string[], now: readonly string[]): Edit[] {
  const numbers = new LineNumbers();
  const [oldLines, newLines] = [numbers.of(old), numbers.of(now)];
  const { removed, added } = compareLines(oldLines, newLines);
  const edits: Edit[] = [];
  let [oldAt, newAt] = [0, 0];
  while (oldAt < old.length || newAt < now.length) {
    const [oldCount, newCount] = [runLength(removed, oldAt), runLength(added, newAt)];
    if (oldCount + newCount > 0) edits.push({ oldAt, oldCount, newAt, newCount });
    oldAt += oldCount + 1;
    newAt += newCount + 1;
  }
  return edits.map((edit, index) => shiftedDown(edit, edits[index + 1], oldLines, newLines));
}

function runLength(marks: Uint8Array, from: number): number {
  let count = 0;
  while (marks[from + count] === 1) count += 1;
  return count;
}

/** Moves an insertion or deletion down as far as it fits equally well, because there it mostly covers a whole block. */
function shiftedDown(edit: Edit, next: Edit | undefined, old: Int32Array, now: Int32Array): Edit {
  const isInsertion = edit.oldCount === 0;
  if (!isInsertion && edit.newCount > 0) return edit;
  const [lines, at, count] = isInsertion ? [now, edit.newAt, edit.newCount] : [old, edit.oldAt, edit.oldCount];
  const end = next === undefined ? lines.length : (isInsertion ? next.newAt : next.oldAt) - 1;
  let by = 0;
  while (at + count + by < end && lines[at + by] === lines[at + count + by]) by += 1;
  return { ...edit, oldAt: edit.oldAt + by, newAt: edit.newAt + by };
}

/** Marks the changed lines of both texts: 1 for each removed and for each added line. */
interface ChangedLines {
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
}

type Kind = "alone" | "common" | "frequent";

/**
 * Compares two texts whose lines are numbers. It follows the heuristics of `git diff`, so that the counts of added
 * and removed lines agree with git, although a shortest script would often be shorter.
 */
function compareLines(old: Int32Array, now: Int32Array): ChangedLines {
  const changed = { removed: new Uint8Array(old.length), added: new Uint8Array(now.length) };
  const head = commonHead(old, now);
  const tail = commonTail(old, now, Math.min(old.length, now.length) - head);
  const left = placesToCompare(old, now, head, old.length - tail, changed.removed);
  const right = placesToCompare(now, old, head, now.length - tail, changed.added);
  const splitter = new BoxSplitter(
    left.map((place) => old[place] ?? -1),
    right.map((place) => now[place] ?? -1),
  );
  splitter.compare({
    onlyLeft: (place) => mark(changed.removed, left[place]),
    onlyRight: (place) => mark(changed.added, right[place]),
  });
  return changed;
}

function mark(marks: Uint8Array, place: number | undefined): void {
  if (place !== undefined) marks[place] = 1;
}

function commonHead(old: Int32Array, now: Int32Array): number {
  const most = Math.min(old.length, now.length);
  let count = 0;
  while (count < most && old[count] === now[count]) count += 1;
  return count;
}

function commonTail(old: Int32Array, now: Int32Array, most: number): number {
  let count = 0;
  while (count < most && old[old.length - 1 - count] === now[now.length - 1 - count]) count += 1;
  return count;
}

/** Returns the places of the lines worth comparing and marks all others as changed. */
function placesToCompare(
  lines: Int32Array,
  others: Int32Array,
  from: number,
  to: number,
  marks: Uint8Array,
): Int32Array {
  const kinds = kindsOf(lines, others, from, to);
  const places: number[] = [];
  for (const [index, kind] of kinds.entries()) {
    if (kind === "common" || (kind === "frequent" && !isBetweenUniqueLines(kinds, index))) places.push(from + index);
    else marks[from + index] = 1;
  }
  return Int32Array.from(places);
}

function kindsOf(lines: Int32Array, others: Int32Array, from: number, to: number): Kind[] {
  const counts = new Map<number, number>();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  const limit = Math.min(approximateRoot(lines.length), maxFrequency);
  return Array.from(lines.subarray(from, to), (line) => {
    const count = counts.get(line) ?? 0;
    return count === 0 ? "alone" : count >= limit ? "frequent" : "common";
  });
}

/** Whether a frequent line has lines that occur in only one text on both of its sides. */
function isBetweenUniqueLines(kinds: readonly Kind[], index: number): boolean {
  const [before, after] = [neighbours(kinds, index, -1), neighbours(kinds, index, 1)];
  if (before.alone === 0 || after.alone === 0) return false;
  const frequent = before.frequent + after.frequent;
  return frequent * frequentShare < frequent + before.alone + after.alone;
}

/** Counts the lines on one side up to the next common one; the line itself counts as frequent. */
function neighbours(kinds: readonly Kind[], index: number, step: 1 | -1): { alone: number; frequent: number } {
  const found = { alone: 0, frequent: 1 };
  for (let distance = 1; distance <= maxNeighbours; distance += 1) {
    const kind = kinds[index + step * distance];
    if (kind === undefined || kind === "common") break;
    found[kind] += 1;
  }
  return found;
}

/** Splits a text into lines with their line breaks; only the last line may have none. */
export function linesIn(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Maps equal lines to equal numbers. */
class LineNumbers {
  readonly #numbers = new Map<string, number>();

  of(lines: readonly string[]): Int32Array {
    return Int32Array.from(lines, (line) => {
      const known = this.#numbers.get(line);
      if (known !== undefined) return known;
      this.#numbers.set(line, this.#numbers.size);
      return this.#numbers.size - 1;
    });
  }
}
