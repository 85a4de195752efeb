import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { ConversationNotFoundError, CorruptedRolloutError, InvalidInputError } from "../messages/errors.js";
import { RolloutLine, type OwnLine } from "../messages/rollout-line.js";
import { maxLineBytes, readLineBytes, withoutMark } from "./line-object.js";

export interface NumberedLine {
  /** Counted from 1, blank and skipped lines included. */
  readonly number: number;
  readonly line: OwnLine;
}

/** How a file ended; what stands here is final when the iteration is over. */
export interface RolloutEnd {
  /** Where the last whole line ends. */
  bytes: number;
  /** The length of an unterminated last line that cannot be read; it is not among the lines. */
  torn: number;
  /** Lines of a type we do not know, or of one we know in a shape we do not. */
  skipped: number;
}

export interface RolloutReading extends AsyncIterable<NumberedLine> {
  readonly end: RolloutEnd;
}

const chunkBytes = 64 * 1024;
const newline = 0x0a;
const knownLine = RolloutLine.options[0];

/** Reads a rollout line by line, in pieces, whatever its size; the file is open only while someone iterates. */
export function readRollout(path: string, conversationId: string): RolloutReading {
  const end: RolloutEnd = { bytes: 0, torn: 0, skipped: 0 };
  return { end, [Symbol.asyncIterator]: () => lines(path, conversationId, end) };
}

async function* lines(path: string, conversationId: string, end: RolloutEnd): AsyncGenerator<NumberedLine> {
  const file = await openRegularFile(path, conversationId);
  Object.assign(end, { bytes: 0, torn: 0, skipped: 0 });
  try {
    let number = 0;
    for await (const { bytes, terminated } of rawLines(file, conversationId)) {
      number += 1;
      const read = readLineBytes(number === 1 ? withoutMark(bytes) : bytes);
      if (read.status === "bad") {
        if (terminated) throw new CorruptedRolloutError(conversationId, number, read.detail);
        end.torn = bytes.length;
        return;
      }
      end.bytes += bytes.length + (terminated ? 1 : 0);
      if (read.status === "blank") continue;
      const known = knownLine.safeParse(read.value);
      // The value itself, not zod's copy: keys of a newer version stay.
      if (known.success) yield { number, line: read.value as OwnLine };
      else end.skipped += 1;
    }
  } finally {
    await file.close();
  }
}

/** Neither follows a link nor waits for the other end of a pipe. */
async function openRegularFile(path: string, conversationId: string): Promise<FileHandle> {
  const file = await openNoFollow(path, conversationId);
  const stats = await file.stat().catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
  if (stats.isFile()) return file;
  await file.close();
  throw notRegular(conversationId);
}

async function openNoFollow(path: string, conversationId: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") throw new ConversationNotFoundError(conversationId);
    // A link where a file should be, or a socket.
    if (code === "ELOOP" || code === "ENXIO") throw notRegular(conversationId);
    throw error;
  }
}

function notRegular(conversationId: string): InvalidInputError {
  return new InvalidInputError(`Conversation ${conversationId}: its rollout is not a regular file`);
}

interface RawLine {
  readonly bytes: Buffer;
  readonly terminated: boolean;
}

async function* rawLines(file: FileHandle, conversationId: string): AsyncGenerator<RawLine> {
  const pieces: Buffer[] = [];
  let length = 0;
  let number = 1;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null);
    if (bytesRead === 0) break;
    let from = 0;
    for (let to = buffer.indexOf(newline); to !== -1 && to < bytesRead; to = buffer.indexOf(newline, from)) {
      pieces.push(buffer.subarray(from, to));
      yield { bytes: joined(pieces), terminated: true };
      pieces.length = 0;
      length = 0;
      from = to + 1;
      number += 1;
    }
    if (from < bytesRead) pieces.push(buffer.subarray(from, bytesRead));
    length += bytesRead - from;
    if (length > maxLineBytes) throw new CorruptedRolloutError(conversationId, number, "the line is too long");
  }
  if (length > 0) yield { bytes: joined(pieces), terminated: false };
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
}
