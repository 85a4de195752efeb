/** A part of a text. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Where the line break stands, or the text ends. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end;
}

/** Where the next line begins. */
export function nextLine(text: string, offset: number): number {
  return Math.min(lineEnd(text, offset) + 1, text.length);
}

export function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** The comments in a part of a text that have their lines for themselves, as they stand there. */
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

/** A text of several lines that stands behind an indentation. */
export function indented(text: string, indentation: string): string {
  return text.replaceAll("\n", `\n${indentation}`);
}

/** The blanks a line begins with. */
export function indentationAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";
}

/** A text behind which a line can begin. */
export function endedLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
