import { counted } from "../../base/text/counted.js";
import { visible } from "../../base/text/visible.js";
import type { DiffSummary, FileDiff, TurnDiff } from "../../messages/tools/diff.js";
import type { FileChange } from "../../messages/tools/file-change.js";

const signs = { modified: "M", created: "A", deleted: "D" } satisfies Record<FileDiff["status"], string>;

export const changesTitle = "Changes This Turn";

/** Further files of the same kind are only counted. */
const maxShown = 20;

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

/** A row of the box with the changes of a turn. */
export interface ChangesRow {
  readonly text: string;
  /** The numbers of added and removed lines, after a space. */
  readonly numbers?: string;
}

export function changesRows(diff: TurnDiff): ChangesRow[] {
  const { files, files_modified, files_created, files_deleted, summary } = diff;
  const numbers = new Map(files.map((file) => [file.path, ` ${numbersText(file)}`]));
  return [
    ...changesSection("Modified", files_modified, numbers),
    ...changesSection("Created", files_created),
    ...changesSection("Deleted", files_deleted),
    { text: `Total: ${totalText(summary.total_additions, summary.total_deletions)}` },
  ];
}

function changesSection(title: string, paths: readonly string[], numbers?: ReadonlyMap<string, string>): ChangesRow[] {
  if (paths.length === 0) return [];
  const rows = paths
    .slice(0, maxShown)
    .map((path) => ({ text: `  • ${visible(path)}`, numbers: numbers?.get(path) ?? "" }));
  const rest = paths.length > maxShown ? [{ text: `  … and ${paths.length - maxShown} more` }] : [];
  return [{ text: `${title}:` }, ...rows, ...rest, { text: "" }];
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
