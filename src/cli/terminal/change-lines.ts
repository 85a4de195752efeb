import type { FileChange } from "../../messages/file-change.js";

/** What becomes of one file, as lines with a sign before each; of one that goes only how long it was. */
export function changeLines(change: FileChange): string[] {
  if (change.type === "add") return lines(change.content).map((line) => `+${line}`);
  return change.type === "update" ? lines(change.unified_diff) : [];
}

/** What becomes of it in a few words; the path is for the caller to show. */
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
