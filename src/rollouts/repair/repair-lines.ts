import type { FileHandle } from "node:fs/promises";
import { joinPieces, maxLineBytes, type LineObject, readLineBytes, withoutMark } from "../file/lines.js";

const mebibyte = 1024 * 1024;

/** The start of every line written by cody and Codex. It cannot occur in a text, where the quotes would be escaped. */
const begin = Buffer.from('{"timestamp":"');

/** Characters before a nested value; a match after one of them is not a line of its own. */
const insideBytes = new Set(Buffer.from(":,["));

const space = 0x20;

/** One line of a file, whatever its content. */
export interface FileLine {
  /** Starts at 1. */
  readonly number: number;
  /** In bytes, without the newline. */
  readonly length: number;
  /** Absent when the line exceeds the size limit. */
  readonly bytes: Buffer | undefined;
  readonly terminated: boolean;
}

const chunkBytes = 256 * 1024;
const newline = 0x0a;

/** Yields every line of a file. Unlike `rawLines`, it skips a line that is too long and continues after it. */
export async function* allLines(file: FileHandle): AsyncGenerator<FileLine> {
  let pieces: Buffer[] = [];
  let length = 0;
  let number = 0;
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxLineBytes) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  };
  const line = (terminated: boolean): FileLine => {
    number += 1;
    const whole = { number, length, bytes: length > maxLineBytes ? undefined : joinPieces(pieces), terminated };
    pieces = [];
    length = 0;
    return whole;
  };
  for (let position = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    let from = 0;
    for (let to = chunk.indexOf(newline); to !== -1; to = chunk.indexOf(newline, from)) {
      take(chunk.subarray(from, to));
      yield line(true);
      from = to + 1;
    }
    take(chunk.subarray(from));
  }
  if (length > 0) yield line(false);
}

/** A complete line found inside a damaged one. */
export interface RecoveredLine {
  /** Offset in the damaged line. */
  readonly start: number;
  readonly bytes: Buffer;
  readonly value: LineObject;
}

export type LineVerdict =
  /** A blank line has no value. */
  | { readonly status: "good"; readonly value: LineObject | undefined }
  /** The reason never quotes the file. */
  | { readonly status: "damaged"; readonly reason: string; readonly rescued: readonly RecoveredLine[] };

/**
 * Judges a line as the reader would. Only lines that the reader rejects are damaged; readable lines are never
 * changed.
 */
export function judgeLine({ number, bytes, terminated }: FileLine): LineVerdict {
  if (bytes === undefined) return damaged(`longer than ${maxLineBytes / mebibyte} MiB`, terminated, []);
  const read = readLineBytes(number === 1 ? withoutMark(bytes) : bytes);
  if (read.status === "blank") return { status: "good", value: undefined };
  if (read.status === "object") return { status: "good", value: read.value };
  return damaged(bytes.includes(0) ? "contains NUL bytes" : read.detail, terminated, wholeLinesIn(bytes));
}

function damaged(reason: string, terminated: boolean, rescued: readonly RecoveredLine[]): LineVerdict {
  return { status: "damaged", reason: terminated ? reason : `incomplete: ${reason}`, rescued };
}

/**
 * Finds complete lines inside a damaged one. A program that appends after a torn line, or after a hole left by a
 * power failure, writes complete lines that the reader misses, because they are joined to what precedes them.
 */
function wholeLinesIn(bytes: Buffer): RecoveredLine[] {
  const found: RecoveredLine[] = [];
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

/** Parses a piece up to its last brace, after which remains of a newline may follow. A truncated line never parses. */
function wholeLine(piece: Buffer): Omit<RecoveredLine, "start"> | undefined {
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
