import { FileProblem } from "../files/file-problem.js";
import type { Chunk, PatchLine } from "./file-patch.js";
import { placesOf } from "./places.js";
import { joinedLines, type TextLine, textLines } from "./text-lines.js";

const byteOrderMark = "\u{feff}";
const noEnd = "\n\\ No newline at end of file\n";

export interface UpdatedText {
  readonly text: string;
  /** Hunks without headers; their context is what the patch named, as it stands in the file. */
  readonly unifiedDiff: string;
}

/** A text with chunks of a patch done to it. What the patch does not replace stays as it is, byte for byte. */
export function updatedText(old: string, chunks: readonly Chunk[]): UpdatedText {
  const mark = old.startsWith(byteOrderMark) ? byteOrderMark : "";
  const lines = textLines(old.slice(mark.length));
  const ownEnd = lines[0]?.end || "\n";
  const made: TextLine[] = [];
  const diff: string[] = [];
  let next = 0;
  for (const { at, lines: changed } of placesOf(lines, chunks)) {
    if (at < next) throw new FileProblem("two parts of the patch change the same lines");
    takeUntil(at);
    const newStart = made.length;
    const body = changed.map((line, index) => changedLine(line, index === changed.length - 1)).join("");
    diff.push(`@@ -${range(at, next - at)} +${range(newStart, made.length - newStart)} @@\n${body}`);
  }
  takeUntil(lines.length);
  return { text: mark + joinedLines(made), unifiedDiff: diff.join("") };

  function takeUntil(index: number): void {
    for (const line of lines.slice(next, index)) made.push(line);
    next = index;
  }

  /** Does what one line of the patch says; gives what the diff says of it. */
  function changedLine({ kind, text }: PatchLine, isLast: boolean): string {
    if (kind === "added") {
      made.push({ text, end: ownEnd });
      return `+${text}${ownEnd}`;
    }
    const line = lines[next] ?? { text, end: ownEnd };
    next += 1;
    if (kind === "removed") return `-${shown(line)}`;
    // Only the last line of a file has no end, and it gets one when something is added behind it.
    const kept = line.end === "" && !isLast ? { text: line.text, end: ownEnd } : line;
    made.push(kept);
    return kept === line ? ` ${shown(line)}` : `-${shown(line)}+${shown(kept)}`;
  }
}

function shown({ text, end }: TextLine): string {
  return text + (end === "" ? noEnd : end);
}

function range(start: number, count: number): string {
  if (count === 0) return `${start},0`;
  return count === 1 ? `${start + 1}` : `${start + 1},${count}`;
}
