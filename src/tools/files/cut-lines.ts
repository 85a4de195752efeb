import { unfinishedBytes } from "../../base/text/utf8-borders.js";

const newline = 0x0a;

export interface LineCut {
  readonly bytes: Buffer;
  /** How many lines it holds; the last may be without its end. */
  readonly lines: number;
  /** Whether the only line was too long to be given whole. */
  readonly isLineCut: boolean;
}

/** The first lines of some bytes; `isAll` when nothing comes after them. */
export function cutLines(bytes: Buffer, maxLines: number, isAll: boolean): LineCut {
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
