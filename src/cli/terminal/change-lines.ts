import type { FileChange } from "../../messages/tools/file-change.js";

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
