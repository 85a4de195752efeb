import { shortened } from "../../base/text/truncate.js";
import { FileProblem } from "../files/file-problem.js";
import type { Chunk, PatchLine } from "./parse-patch.js";

/** Typographic characters that models replace with plain ones, or the other way round. */
const plainForms: readonly (readonly [RegExp, string])[] = [
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u2018-\u201b]/g, "'"],
  [/[\u201c-\u201f]/g, '"'],
  [/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " "],
];

/** The ways to compare lines, strictest first. */
const forms: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => plainForms.reduce((text, [odd, plain]) => text.replaceAll(odd, plain), line).trim(),
];

/** The maximum number of characters compared for one file: comparing hostile lines could take hours. */
const maxWork = 50_000_000;

const maxQuotedChars = 1_000;

const byteOrderMark = "\u{feff}";
const noEnd = "\n\\ No newline at end of file\n";

interface PatchedText {
  readonly text: string;
  /** Hunks without file headers; their context is the patch's context as it is in the file. */
  readonly unifiedDiff: string;
}

/**
 * Applies the chunks of a patch to a text. Everything that the patch does not replace stays the same, byte for byte.
 */
export function applyChunks(old: string, chunks: readonly Chunk[]): PatchedText {
  const mark = old.startsWith(byteOrderMark) ? byteOrderMark : "";
  const lines = textLines(old.slice(mark.length));
  const ownEnd = lines[0]?.end || "\n";
  const result: TextLine[] = [];
  const diff: string[] = [];
  let next = 0;
  for (const { at, lines: changed } of locateChunks(lines, chunks)) {
    if (at < next) throw new FileProblem("two parts of the patch change the same lines");
    takeUntil(at);
    const newStart = result.length;
    const body = changed.map((line, index) => changedLine(line, index === changed.length - 1)).join("");
    diff.push(`@@ -${range(at, next - at)} +${range(newStart, result.length - newStart)} @@\n${body}`);
  }
  takeUntil(lines.length);
  return { text: mark + joinedLines(result), unifiedDiff: diff.join("") };

  function takeUntil(index: number): void {
    for (const line of lines.slice(next, index)) result.push(line);
    next = index;
  }

  /** Applies one line of the patch; returns the matching lines of the diff. */
  function changedLine({ kind, text }: PatchLine, isLast: boolean): string {
    if (kind === "added") {
      result.push({ text, end: ownEnd });
      return `+${text}${ownEnd}`;
    }
    const line = lines[next] ?? { text, end: ownEnd };
    next += 1;
    if (kind === "removed") return `-${displayText(line)}`;
    // Only the last line of a file can lack a line break, and it gets one if lines are added after it.
    const ended = line.end === "" && !isLast ? { text: line.text, end: ownEnd } : line;
    result.push(ended);
    return ended === line ? ` ${displayText(line)}` : `-${displayText(line)}+${displayText(ended)}`;
  }
}

function displayText({ text, end }: TextLine): string {
  return text + (end === "" ? noEnd : end);
}

function range(start: number, count: number): string {
  if (count === 0) return `${start},0`;
  return count === 1 ? `${start + 1}` : `${start + 1},${count}`;
}

/** The position of a chunk's lines in the file. */
interface Place {
  readonly at: number;
  readonly lines: readonly PatchLine[];
}

/** The positions of the chunks, in file order; the search for each starts after the previous one. */
function locateChunks(lines: readonly TextLine[], chunks: readonly Chunk[]): Place[] {
  const finder = new LineFinder(lines.map(({ text }) => text));
  let from = 0;
  const places = chunks.map((chunk): Place => {
    for (const context of chunk.contexts) {
      from = (finder.find([context], from, false) ?? notFound([context], from)) + 1;
    }
    const wanted = chunk.lines.flatMap(({ kind, text }) => (kind === "added" ? [] : [text]));
    if (wanted.length === 0) return insertion(lines, chunk, from);
    const at =
      finder.find(wanted, from, chunk.atEnd) ??
      // Some models name the line above a place and then repeat it as the first line.
      (chunk.contexts.length > 0 ? finder.find(wanted, from - 1, chunk.atEnd) : undefined) ??
      notFound(wanted, from);
    from = at + wanted.length;
    return { at, lines: chunk.lines };
  });
  return places.toSorted((one, other) => one.at - other.at);
}

/** Lines that replace none go after the named context line, else at the end. */
function insertion(lines: readonly TextLine[], { contexts, lines: added, atEnd }: Chunk, from: number): Place {
  const at = contexts.length > 0 && !atEnd ? from : lines.length;
  const before = lines[at - 1];
  if (before?.end !== "") return { at, lines: added };
  // A line that gets a line break by this is changed too.
  return { at: at - 1, lines: [{ kind: "context", text: before.text }, ...added] };
}

function notFound(wanted: readonly string[], from: number): never {
  const where = from === 0 ? "" : ` after line ${from}`;
  throw new FileProblem(`these lines are not in it${where}:\n${shortened(wanted.join("\n"), maxQuotedChars)}`);
}

class LineFinder {
  readonly #lines: readonly string[];
  /** The lines in each form, computed on first use. */
  readonly #normalizedLines: (readonly string[] | undefined)[] = [];
  #workLeft = maxWork;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** The index of the first match from `from` on or, with `atEnd`, of a match at the end of the file. */
  find(wanted: readonly string[], from: number, atEnd: boolean): number | undefined {
    const last = this.#lines.length - wanted.length;
    const start = atEnd ? Math.max(from, last) : from;
    for (const [index, form] of forms.entries()) {
      const lines = (this.#normalizedLines[index] ??= this.#lines.map(form));
      const normalized = wanted.map(form);
      for (let at = start; at <= last; at += 1) {
        if (this.#matchesAt(normalized, lines, at)) return at;
      }
    }
    return undefined;
  }

  #matchesAt(wanted: readonly string[], lines: readonly string[], at: number): boolean {
    for (const [index, line] of wanted.entries()) {
      const other = lines[at + index] ?? "";
      this.#workLeft -= line.length === other.length ? line.length + 1 : 1;
      if (this.#workLeft < 0) throw new FileProblem("its lines are too similar to locate these");
      if (line !== other) return false;
    }
    return true;
  }
}

/** A line of a file and its line break, which the last line may lack. */
interface TextLine {
  readonly text: string;
  readonly end: "" | "\n" | "\r\n";
}

function textLines(text: string): TextLine[] {
  const lines: TextLine[] = [];
  let start = 0;
  while (start < text.length) {
    const at = text.indexOf("\n", start);
    if (at === -1) {
      lines.push({ text: text.slice(start), end: "" });
      break;
    }
    const isPair = at > start && text[at - 1] === "\r";
    lines.push({ text: text.slice(start, isPair ? at - 1 : at), end: isPair ? "\r\n" : "\n" });
    start = at + 1;
  }
  return lines;
}

function joinedLines(lines: readonly TextLine[]): string {
  return lines.map(({ text, end }) => text + end).join("");
}
