import type { DiffHunk, DiffLine } from "../messages/tools/diff.js";
import type { Edit } from "./edit-script.js";

const contextLines = 3;

/** Builds hunks from edits with context lines; edits whose context would touch share a hunk. */
export function hunksOf(old: readonly string[], now: readonly string[], edits: readonly Edit[]): DiffHunk[] {
  return grouped(edits).map((group) => hunkOf(old, now, group));
}

function grouped(edits: readonly Edit[]): Edit[][] {
  const groups: Edit[][] = [];
  for (const edit of edits) {
    const last = groups.at(-1)?.at(-1);
    const isNear = last !== undefined && edit.oldAt - (last.oldAt + last.oldCount) <= 2 * contextLines;
    if (isNear) groups.at(-1)?.push(edit);
    else groups.push([edit]);
  }
  return groups;
}

function hunkOf(old: readonly string[], now: readonly string[], edits: readonly Edit[]): DiffHunk {
  const [first, last] = [edits[0], edits.at(-1)];
  if (first === undefined || last === undefined) throw new Error("a hunk has an edit");
  const before = Math.min(contextLines, first.oldAt);
  const oldEnd = Math.min(last.oldAt + last.oldCount + contextLines, old.length);
  const newEnd = last.newAt + last.newCount + (oldEnd - last.oldAt - last.oldCount);
  const lines: DiffLine[] = [];
  let at = first.oldAt - before;
  for (const { oldAt, oldCount, newAt, newCount } of edits) {
    for (; at < oldAt; at += 1) lines.push(diffLine("context", old[at]));
    for (; at < oldAt + oldCount; at += 1) lines.push(diffLine("deletion", old[at]));
    for (let place = newAt; place < newAt + newCount; place += 1) lines.push(diffLine("addition", now[place]));
  }
  for (; at < oldEnd; at += 1) lines.push(diffLine("context", old[at]));
  const [oldStart, newStart] = [first.oldAt - before, first.newAt - before];
  return {
    ...counted("old", oldStart, oldEnd - oldStart),
    ...counted("new", newStart, newEnd - newStart),
    lines,
  };
}

/** An empty range starts at the line before it, as in unified diffs; lines count from 1. */
function counted<Side extends "old" | "new">(side: Side, at: number, count: number) {
  const start = count === 0 ? at : at + 1;
  return { [`${side}_start`]: start, [`${side}_count`]: count } as Record<`${Side}_start` | `${Side}_count`, number>;
}

function diffLine(type: DiffLine["type"], line = ""): DiffLine {
  return line.endsWith("\n") ? { type, text: line.slice(0, -1) } : { type, text: line, no_newline: true };
}
