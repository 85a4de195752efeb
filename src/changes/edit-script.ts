import { approximateRoot } from "./approximate-root.js";
import { BoxSplitter } from "./box-splitter.js";
import { LineNumbers } from "./number-lines.js";

/** A line that is this often in the other text says little about where it belongs. */
const maxFrequency = 1_024;

/** How far the neighbours of a frequent line are looked at. */
const maxNeighbours = 100;

/** A frequent line is passed over where more than three in four of the lines around it are in one text alone. */
const frequentShare = 4;

/** A place where lines of the old text give way to lines of the new one; one of both may be none. */
export interface Edit {
  readonly oldAt: number;
  readonly oldCount: number;
  readonly newAt: number;
  readonly newCount: number;
}

/** What changed between two texts, given as lines, from the first to the last. */
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
  return edits.map((edit, index) => slidDown(edit, edits[index + 1], oldLines, newLines));
}

function runLength(marks: Uint8Array, from: number): number {
  let count = 0;
  while (marks[from + count] === 1) count += 1;
  return count;
}

/** Lines that could as well have been put in or taken out further below are shown there: mostly that is a whole block. */
function slidDown(edit: Edit, next: Edit | undefined, old: Int32Array, now: Int32Array): Edit {
  const isInsertion = edit.oldCount === 0;
  if (!isInsertion && edit.newCount > 0) return edit;
  const [lines, at, count] = isInsertion ? [now, edit.newAt, edit.newCount] : [old, edit.oldAt, edit.oldCount];
  const end = next === undefined ? lines.length : (isInsertion ? next.newAt : next.oldAt) - 1;
  let by = 0;
  while (at + count + by < end && lines[at + by] === lines[at + count + by]) by += 1;
  return { ...edit, oldAt: edit.oldAt + by, newAt: edit.newAt + by };
}

/** Which lines of two texts are not in the other: 1 for each that was taken out, and for each that was put in. */
interface ChangedLines {
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
}

type Kind = "alone" | "common" | "frequent";

/**
 * Compares two texts line by line, each line a number. The rules are those of `git diff`, so that the numbers of added
 * and removed lines are the same: a shortest script would often be shorter.
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

/** The places of the lines worth comparing; the others are marked as changed. */
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
    if (kind === "common" || (kind === "frequent" && !standsAmongAlone(kinds, index))) places.push(from + index);
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

/** Whether a frequent line lies among lines that are in one text alone, on both of its sides. */
function standsAmongAlone(kinds: readonly Kind[], index: number): boolean {
  const [before, after] = [neighbours(kinds, index, -1), neighbours(kinds, index, 1)];
  if (before.alone === 0 || after.alone === 0) return false;
  const frequent = before.frequent + after.frequent;
  return frequent * frequentShare < frequent + before.alone + after.alone;
}

/** What is on one side of a line up to the next common one; the line itself counts as frequent. */
function neighbours(kinds: readonly Kind[], index: number, step: 1 | -1): { alone: number; frequent: number } {
  const found = { alone: 0, frequent: 1 };
  for (let distance = 1; distance <= maxNeighbours; distance += 1) {
    const kind = kinds[index + step * distance];
    if (kind === undefined || kind === "common") break;
    found[kind] += 1;
  }
  return found;
}
