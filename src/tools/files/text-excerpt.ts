import { isUtf8 } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import { counted } from "../../base/text/counted.js";
import { unfinishedBytes } from "../../base/text/truncate.js";
import { FileProblem } from "./file-problem.js";
import { findLine } from "./find-line.js";
import { readAt } from "../../base/fs/open-regular.js";

const newline = 0x0a;

export const maxExcerptLines = 2_000;
export const maxExcerptBytes = 64 * 1024;

/** The bytes at the beginning of a file that decide whether it is text. */
const probeBytes = 8 * 1024;
const byteOrderMark = "\u{feff}";

/** The requested lines; the first of a file is 1. */
export interface ExcerptRange {
  readonly offset: number;
  readonly limit: number;
}

/**
 * Reads lines of a text exactly as they are in the file, with notes about what is missing. Rejects for a file that is
 * not text.
 */
export async function readExcerpt(
  file: FileHandle,
  size: number,
  { offset, limit }: ExcerptRange,
  signal: AbortSignal,
): Promise<string> {
  if (size === 0) return "[The file is empty.]";
  await refuseBinary(file, size);
  const start = await findLine(file, offset, size, signal);
  const bytes = await readAt(file, start, Math.min(maxExcerptBytes, size - start));
  const cut = cutLines(bytes, Math.min(limit, maxExcerptLines), start + bytes.length >= size);
  if (!isUtf8(cut.bytes)) throw new FileProblem(`it is not UTF-8 text (${counted(size, "byte")})`);
  const text = cut.bytes.toString();
  const hasMark = offset === 1 && text.startsWith(byteOrderMark);
  const notes = [
    ...(hasMark ? ["[The file begins with a byte order mark, not shown here.]"] : []),
    ...rangeNotes(cut, offset, start + cut.bytes.length >= size),
  ];
  return withNotes(hasMark ? text.slice(byteOrderMark.length) : text, notes);
}

async function refuseBinary(file: FileHandle, size: number): Promise<void> {
  const head = await readAt(file, 0, Math.min(probeBytes, size));
  const whole = head.subarray(0, head.length - (size > head.length ? unfinishedBytes(head) : 0));
  if (head.includes(0) || !isUtf8(whole)) throw new FileProblem(`it is a binary file (${counted(size, "byte")})`);
}

function rangeNotes({ lines, isLineCut }: LineCut, offset: number, isAtEnd: boolean): string[] {
  const last = offset + lines - 1;
  const given = lines === 1 ? `line ${offset}` : `lines ${offset} to ${last}`;
  if (isLineCut)
    return [`[Only the beginning of line ${offset}: it is too long. The next line has offset ${last + 1}.]`];
  if (!isAtEnd) return [`[This is ${given}. To read more, use offset ${last + 1}.]`];
  return offset === 1 ? [] : [`[This is ${given}, up to the end of the file.]`];
}

function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text;
  return `${text}${text.endsWith("\n") || text === "" ? "" : "\n"}${notes.join("\n")}`;
}

interface LineCut {
  readonly bytes: Buffer;
  /** The number of lines; the last may have no line break. */
  readonly lines: number;
  /** Whether the only line was too long to be returned whole. */
  readonly isLineCut: boolean;
}

/** Takes the first lines of some bytes; `isAll` if nothing follows them. */
function cutLines(bytes: Buffer, maxLines: number, isAll: boolean): LineCut {
  let end = 0;
  let lines = 0;
  while (lines < maxLines) {
    const at = bytes.indexOf(newline, end);
    if (at === -1) break;
    end = at + 1;
    lines += 1;
  }
  if (lines === maxLines || end === bytes.length) return { bytes: bytes.subarray(0, end), lines, isLineCut: false };
  if (isAll) return { bytes, lines: lines + 1, isLineCut: false };
  if (lines > 0) return { bytes: bytes.subarray(0, end), lines, isLineCut: false };
  return { bytes: bytes.subarray(0, bytes.length - unfinishedBytes(bytes)), lines: 1, isLineCut: true };
}
