import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../base/is-record.js";

/** One setting to change. A value of undefined removes the setting. */
export interface ConfigEdit {
  readonly path: readonly string[];
  readonly value: unknown;
}

/**
 * Computes the fewest edits that turn one configuration into another, so that text around unchanged settings is
 * preserved.
 */
export function configEdits(from: unknown, to: unknown, path: readonly string[] = []): ConfigEdit[] {
  if (!isRecord(from) || !isRecord(to)) return isDeepStrictEqual(from, to) ? [] : [{ path, value: to }];
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return keys.flatMap((key) => configEdits(from[key], to[key], [...path, key]));
}

/** A range of offsets in a text; `to` is exclusive. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** The offset of the line break, or of the end of the text. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end;
}

export function nextLine(text: string, offset: number): number {
  return Math.min(lineEnd(text, offset) + 1, text.length);
}

export function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Returns the comments in a range that are on lines of their own, as they are written. */
export function commentLines(text: string, { from, to }: TextRange, comments: readonly TextRange[]): string {
  return comments
    .filter((comment) => comment.from >= from && comment.to <= to)
    .filter((comment) => isBlank(text.slice(lineStart(text, comment.from), comment.from)))
    .filter((comment) => isBlank(text.slice(comment.to, lineEnd(text, comment.to))))
    .map((comment) => text.slice(lineStart(text, comment.from), nextLine(text, comment.to)))
    .join("");
}

export function replaced(text: string, { from, to }: TextRange, by: string): string {
  return text.slice(0, from) + by + text.slice(to);
}

/** Indents every line of a text except the first. */
export function indented(text: string, indentation: string): string {
  return text.replaceAll("\n", `\n${indentation}`);
}

export function indentationAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";
}

/** Appends a line break unless the text is empty or already ends with one. */
export function endedLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
