import { counted } from "../../base/text/counted.js";
import { visible } from "../../base/text/visible.js";
import type { DiffSummary, FileDiff } from "../../messages/tools/diff.js";
import type { FileChange } from "../../messages/tools/file-change.js";

const signs = { modified: "M", created: "A", deleted: "D" } satisfies Record<FileDiff["status"], string>;

/** One line per file, and a total. */
export function statText(files: readonly FileDiff[], { total_additions, total_deletions }: DiffSummary): string[] {
  const rows = files.map((file) => `${signs[file.status]}  ${visible(file.path)}  ${numbersText(file)}`);
  return [...rows, `${counted(files.length, "file")} changed, ${totalText(total_additions, total_deletions)}`];
}

/** Shows binary files as git does. */
export function numbersText({ additions, deletions, binary }: FileDiff): string {
  return binary === true ? "(binary)" : `(+${additions}, -${deletions})`;
}

export function totalText(additions: number, deletions: number): string {
  return `${counted(additions, "addition")}, ${counted(deletions, "deletion")}`;
}

export function noChanges(turn: number | undefined, isReverted = false): string {
  if (isReverted && turn === undefined) return "All file changes have been reverted.";
  return `No file changes recorded${turn === undefined ? "" : ` for turn ${turn}`}.`;
}

/** The change of one file as lines with a sign before each; empty for a deleted file. */
export function changeLines(change: FileChange): string[] {
  if (change.type === "add") return lines(change.content).map((line) => `+${line}`);
  return change.type === "update" ? lines(change.unified_diff) : [];
}

/** The change of one file in a few words. The caller decides how to show the path. */
export function changeWords(change: FileChange, path: string, shownPath: (path: string) => string): string {
  if (change.type === "add") return `add ${shownPath(path)}`;
  if (change.type === "update") {
    const target = change.move_path === null ? "" : ` and move it to ${shownPath(change.move_path)}`;
    return `change ${shownPath(path)}${target}`;
  }
  const count = lines(change.content).length;
  return `delete ${shownPath(path)} (${count} ${count === 1 ? "line" : "lines"})`;
}

function lines(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}
