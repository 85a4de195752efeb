import type { FileHandle } from "node:fs/promises";
import { maxLineBytes } from "../file/line-object.js";

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
    const whole = { number, length, bytes: length > maxLineBytes ? undefined : joined(pieces), terminated };
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

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
}
