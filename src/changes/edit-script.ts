import { compareLines } from "./compare-lines.js";
import { LineNumbers } from "./number-lines.js";

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
