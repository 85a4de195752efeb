import { counted } from "../../base/text/counted.js";
import type { DiffSummary, FileDiff } from "../../messages/tools/diff.js";
import { visible } from "../../base/text/visible.js";

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

export function noChanges(turn: number | undefined, isTakenBack = false): string {
  if (isTakenBack && turn === undefined) return "All file changes have been reverted.";
  return `No file changes recorded${turn === undefined ? "" : ` for turn ${turn}`}.`;
}
