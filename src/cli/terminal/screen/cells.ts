import stringWidth from "fast-string-width";

/** SGR and OSC 8: the only sequences that lines of the screen contain. */
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const sequence = /\u001b\[[0-9;:]*m|\u001b\]8;[^\u0007\u001b]*(?:\u0007|\u001b\\)/y;
const ascii = /^[\u0020-\u007e]*$/;
/** Clusters that some terminals draw as one character and others as several: joined emoji, flags, marks. */
const uncertain = /\p{M}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\p{Default_Ignorable_Code_Point}/u;

let segmenter: Intl.Segmenter | undefined;

/**
 * Characters of one UTF-16 unit that are never part of a longer grapheme: ASCII, Latin, Greek, Cyrillic, Chinese,
 * Japanese and Korean without the marks that combine, punctuation and symbols.
 */
const single =
  // oxlint-disable-next-line no-control-regex -- control characters are graphemes too
  /^[\u0000-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u2bff\u3000-\u3029\u3030-\u3098\u309b-\u9fff\uac00-\ud7a3\uff01-\uff9d]*$/;

/** The characters as people see them. Loads the segmenter, which takes 20 ms, with the first text that needs it. */
export function graphemesOf(text: string): string[] {
  // "\r\n" is one grapheme.
  if (!text.includes("\r") && single.test(text)) return text.split("");
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The cells a line takes, without its styles and links. */
export function cellWidth(line: string): number {
  return ascii.test(line) ? line.length : stringWidth(line);
}

/** True if terminals disagree about the line's width. */
export function hasUncertainWidth(line: string): boolean {
  return !ascii.test(line) && uncertain.test(line);
}

/** The start of a line that fits into the columns, with all of its styles, so that it ends as it did. */
export function cutToCells(line: string, columns: number): string {
  if (line.length <= columns && ascii.test(line)) return line;
  let cut = "";
  let width = 0;
  for (const piece of piecesOf(line)) {
    width += piece.width;
    if (piece.isSequence || width <= columns) cut += piece.text;
  }
  return cut;
}

/** The rows that a line takes in a terminal that breaks it at its last column. */
export function rowsOf(line: string, columns: number): number {
  if (ascii.test(line)) return Math.max(1, Math.ceil(line.length / columns));
  let rows = 1;
  let used = 0;
  for (const { width } of piecesOf(line)) {
    if (used + width > columns) {
      rows += 1;
      used = 0;
    }
    used += width;
  }
  return rows;
}

interface Piece {
  readonly text: string;
  readonly width: number;
  readonly isSequence: boolean;
}

function* piecesOf(line: string): Generator<Piece> {
  let start = 0;
  while (start < line.length) {
    sequence.lastIndex = start;
    const text = sequence.exec(line)?.[0];
    if (text !== undefined) {
      yield { text, width: 0, isSequence: true };
      start += text.length;
      continue;
    }
    const next = line.indexOf("\u001b", start + 1);
    const end = next === -1 ? line.length : next;
    for (const grapheme of graphemesOf(line.slice(start, end)))
      yield { text: grapheme, width: cellWidth(grapheme), isSequence: false };
    start = end;
  }
}
