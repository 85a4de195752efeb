import { type LineObject, maxLineBytes, readLineBytes, withoutMark } from "../file/line-object.js";
import type { FileLine } from "./repair-lines.js";

/** A whole line that stands in a damaged one. */
export interface Rescued {
  /** Where it begins in the damaged one. */
  readonly start: number;
  readonly bytes: Buffer;
  readonly value: LineObject;
}

export type Verdict =
  /** A blank line has no value. */
  | { readonly status: "good"; readonly value: LineObject | undefined }
  /** The reason is in our own words, and never quotes the file. */
  | { readonly status: "damaged"; readonly reason: string; readonly rescued: readonly Rescued[] };

const mebibyte = 1024 * 1024;

/** What a line is to the reader. Only what the reader would refuse is damaged; what reads is never touched. */
export function judged({ number, bytes, terminated }: FileLine): Verdict {
  if (bytes === undefined) return damaged(`longer than ${maxLineBytes / mebibyte} MiB`, terminated, []);
  const read = readLineBytes(number === 1 ? withoutMark(bytes) : bytes);
  if (read.status === "blank") return { status: "good", value: undefined };
  if (read.status === "object") return { status: "good", value: read.value };
  return damaged(bytes.includes(0) ? "holds NUL bytes" : read.detail, terminated, wholeLinesIn(bytes));
}

function damaged(reason: string, terminated: boolean, rescued: readonly Rescued[]): Verdict {
  return { status: "damaged", reason: terminated ? reason : `torn: ${reason}`, rescued };
}

/** So begins every line that cody and Codex write. In a text it cannot stand: its quotes would be escaped. */
const begin = Buffer.from('{"timestamp":"');
/** Before a value of another line: what stands there is not a line of its own. */
const insideBytes = new Set(Buffer.from(":,["));
const space = 0x20;

/**
 * A program that appends behind a torn line, or behind a hole that a power failure left, writes whole lines that no
 * reader finds: they are glued to what stands before them.
 */
function wholeLinesIn(bytes: Buffer): Rescued[] {
  const found: Rescued[] = [];
  let start = nextBegin(bytes, 0);
  while (start !== -1) {
    const next = nextBegin(bytes, start + begin.length);
    const hole = bytes.indexOf(0, start);
    const ends = [next, hole].filter((end) => end !== -1);
    const whole = wholeLine(bytes.subarray(start, Math.min(bytes.length, ...ends)));
    if (whole !== undefined) found.push({ start, ...whole });
    start = next;
  }
  return found;
}

/** Behind its last brace there may stand what became of its newline. Half a line is never whole without its end. */
function wholeLine(piece: Buffer): Omit<Rescued, "start"> | undefined {
  const bytes = piece.subarray(0, piece.lastIndexOf("}") + 1);
  const read = readLineBytes(bytes);
  return read.status === "object" ? { bytes, value: read.value } : undefined;
}

function nextBegin(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(begin, from); at !== -1; at = bytes.indexOf(begin, at + 1)) {
    if (!isInside(bytes, at)) return at;
  }
  return -1;
}

function isInside(bytes: Buffer, at: number): boolean {
  let before = at - 1;
  while (bytes[before] === space) before -= 1;
  return insideBytes.has(bytes[before] ?? space);
}
