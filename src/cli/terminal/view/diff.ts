import { counted } from "../../../base/text/counted.js";
import { visible } from "../../../base/text/visible.js";
import { numbersText } from "../change-text.js";
import { breakRuns, cleanLine, fitText, type Run } from "./rows.js";
import type { Style, Theme, View } from "./view.js";

interface DiffOptions {
  /** The most lines; the last of them says how many more there are. */
  readonly maxLines?: number;
}

/** A line of a hunk. Context and added lines have their number in the new file, removed lines in the old one. */
interface Row {
  readonly sign: " " | "+" | "-";
  readonly number: number | undefined;
  readonly text: string;
  /** The part that differs from the line it replaces. */
  changed?: readonly [start: number, end: number];
}

/** `gap`: lines between two hunks are left out. `note`: a line that is no part of a file. */
type Part = Row | "gap" | { readonly note: string };

interface FilePart {
  /** Undefined if the diff has no headers. */
  readonly title: string | undefined;
  readonly parts: Part[];
}

/** The parts of two lines that differ are marked only if this share of them is equal. */
const leastEqual = 0.4;
const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** A unified diff, with or without file headers, as lines with numbers, signs and colours. */
export function diffLines(unifiedDiff: string, view: View, { maxLines = Infinity }: DiffOptions = {}): string[] {
  const files = parsed(unifiedDiff);
  const numbers = files.flatMap(({ parts }) => parts.map((part) => (isRow(part) ? (part.number ?? 0) : 0)));
  const digits = `${numbers.reduce((most, number) => Math.max(most, number), 0)}`.length;
  const lines: string[] = [];
  for (const [index, file] of files.entries()) {
    if (file.title !== undefined) {
      if (index > 0) lines.push("");
      lines.push(titleLine(file, file.title, view));
    }
    for (const part of file.parts) {
      for (const line of partLines(part, digits, view)) lines.push(line);
    }
  }
  return bounded(lines, maxLines, view);
}

/** The first lines, and how many more there are. */
export function bounded(lines: readonly string[], maxLines: number, { columns, theme }: View): string[] {
  if (lines.length <= maxLines) return [...lines];
  const shown = Math.max(0, maxLines - 1);
  return [...lines.slice(0, shown), theme.dim(fitText(`… ${counted(lines.length - shown, "more line")}`, columns))];
}

function titleLine({ parts }: FilePart, title: string, { columns, theme }: View): string {
  const rows = parts.filter(isRow);
  const additions = rows.filter(({ sign }) => sign === "+").length;
  const deletions = rows.filter(({ sign }) => sign === "-").length;
  const isCounted = additions + deletions > 0;
  const numbers = isCounted ? ` ${numbersText({ path: "", status: "modified", additions, deletions, hunks: [] })}` : "";
  const path = fitText(title, columns - numbers.length);
  return theme.bold(path) + theme.dim(numbers);
}

function partLines(part: Part, digits: number, { columns, theme }: View): string[] {
  if (part === "gap") return [theme.dim(`${" ".repeat(digits)}⋮`)];
  if (!isRow(part)) return [theme.dim(fitText(part.note, columns))];
  const { sign, number } = part;
  const gutter = theme.dim(`${number ?? ""}`.padStart(digits + 1));
  const style = sign === "+" ? theme.added : sign === "-" ? theme.removed : undefined;
  const mark = style === undefined ? "   " : ` ${style(sign)} `;
  const rows = breakRuns(runsOf(part, style, theme), columns - digits - 4);
  return rows.map((row, index) =>
    ((index === 0 ? gutter : " ".repeat(digits + 1)) + (index === 0 ? mark : "   ") + row).trimEnd(),
  );
}

function runsOf({ text, changed }: Row, style: Style | undefined, { bold }: Theme): Run[] {
  if (changed === undefined || style === undefined) return [{ text, style }];
  const [start, end] = changed;
  return [
    { text: text.slice(0, start), style },
    { text: text.slice(start, end), style: (part) => bold(style(part)) },
    { text: text.slice(end), style },
  ];
}

function isRow(part: Part): part is Row {
  return typeof part === "object" && "sign" in part;
}

/** Reads a diff as git writes it. Lines that belong to no hunk are notes. */
function parsed(diff: string): FilePart[] {
  const files: FilePart[] = [];
  let file: FilePart = { title: undefined, parts: [] };
  let [oldLine, newLine, oldLeft, newLeft] = [0, 0, 0, 0];
  for (const line of linesOf(diff)) {
    const sign = line.charAt(0);
    const isInHunk = oldLeft > 0 || newLeft > 0;
    const hunk = hunkHeader.exec(line);
    if (hunk !== null) {
      const [, oldStart, oldCount = "1", newStart, newCount = "1"] = hunk;
      [oldLine, newLine, oldLeft, newLeft] = [Number(oldStart), Number(newStart), Number(oldCount), Number(newCount)];
      if (file.parts.some(isRow)) file.parts.push("gap");
    } else if (isInHunk && sign === "+") {
      file.parts.push({ sign, number: newLine, text: cleanLine(line.slice(1)) });
      [newLine, newLeft] = [newLine + 1, newLeft - 1];
    } else if (isInHunk && sign === "-") {
      file.parts.push({ sign, number: oldLine, text: cleanLine(line.slice(1)) });
      [oldLine, oldLeft] = [oldLine + 1, oldLeft - 1];
    } else if (isInHunk && (sign === " " || sign === "")) {
      file.parts.push({ sign: " ", number: newLine, text: cleanLine(line.slice(1)) });
      [oldLine, newLine, oldLeft, newLeft] = [oldLine + 1, newLine + 1, oldLeft - 1, newLeft - 1];
    } else if (line.startsWith("diff --git ")) {
      file = { title: titleOf(line), parts: [] };
      files.push(file);
    } else if (!isDetail(line, file)) {
      file.parts.push({ note: cleanLine(line) });
    }
    if (files.length === 0 && file.parts.length > 0) files.push(file);
  }
  for (const { parts } of files) markChanges(parts);
  return files;
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** `diff --git a/path b/path`, where only the path after ` b/` can differ from the other. */
function titleOf(line: string): string {
  const names = line.slice("diff --git ".length);
  const [before, after] = [names.slice(0, (names.length - 1) / 2), names.slice((names.length + 1) / 2)];
  const isSame = before.replace(/^"?a\//, "") === after.replace(/^"?b\//, "");
  return visible(
    isSame ? after.replace(/^("?)b\//, "$1") : names.replace(/^("?)a\//, "$1").replace(/ ("?)b\//, " → $1"),
  );
}

/** Headers whose facts are shown otherwise, or say nothing to a person. */
function isDetail(line: string, { title }: FilePart): boolean {
  return title !== undefined && /^(?:index |--- |\+\+\+ |similarity |rename |old mode |new mode 100)/.test(line);
}

/** Marks what has changed in removed lines that are followed by as many added ones. */
function markChanges(parts: readonly Part[]): void {
  let start = 0;
  while (start < parts.length) {
    const removed = rowsFrom(parts, start, "-");
    const added = rowsFrom(parts, start + removed.length, "+");
    if (removed.length > 0 && removed.length === added.length) {
      for (const [index, row] of removed.entries()) markChange(row, added[index] ?? row);
    }
    start += Math.max(1, removed.length + added.length);
  }
}

function rowsFrom(parts: readonly Part[], start: number, sign: "-" | "+"): Row[] {
  const rows: Row[] = [];
  for (let index = start; index < parts.length; index += 1) {
    const part = parts[index];
    if (part === undefined || !isRow(part) || part.sign !== sign) break;
    rows.push(part);
  }
  return rows;
}

function markChange(before: Row, after: Row): void {
  const [a, b] = [before.text, after.text];
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  // Half of a character could not be drawn.
  if (isInsideCharacter(a, start) || isInsideCharacter(b, start)) return;
  if (isInsideCharacter(a, a.length - end) || isInsideCharacter(b, b.length - end)) return;
  const isSimilar = a.trim() !== "" && start + end >= leastEqual * Math.max(a.length, b.length);
  if (!isSimilar) return;
  before.changed = [start, a.length - end];
  after.changed = [start, b.length - end];
}

/** Conservative: true wherever a character beyond ASCII is next to the position. */
function isInsideCharacter(text: string, position: number): boolean {
  return text.charCodeAt(position - 1) > 0x7f || text.charCodeAt(position) > 0x7f;
}
