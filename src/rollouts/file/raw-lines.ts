import type { FileHandle } from "node:fs/promises";
import { ConversationNotFoundError, InvalidInputError } from "../../base/errors.js";
import { NotRegularError, openRegular } from "../../base/fs/open-regular.js";
import { maxLineBytes } from "./line-object.js";

const chunkBytes = 256 * 1024;

export type RawLine =
  | { readonly status: "line"; readonly bytes: Buffer; readonly terminated: boolean }
  /** The line exceeds the limit; nothing after it is read. */
  | { readonly status: "too_long" };

/** Selects the lines that begin between two offsets, each read to its end. */
export interface LineRange {
  readonly from: number;
  readonly before: number;
}

const newline = 0x0a;

/** Yields the lines of a file, or of its first `firstBytes` bytes. The file is open only during the iteration. */
export async function* rawLines(path: string, conversationId: string, upTo?: number): AsyncGenerator<RawLine> {
  for await (const batch of rawBatches(path, conversationId, { upTo })) yield* batch;
}

export interface RawBatchOptions {
  readonly range?: LineRange | undefined;
  /** Offset at which to treat the file as ended. */
  readonly upTo?: number | undefined;
}

/** Yields lines in the batches in which they were read, because awaiting each line takes longer than reading it. */
export async function* rawBatches(
  path: string,
  conversationId: string,
  { range = allLines, upTo = Number.POSITIVE_INFINITY }: RawBatchOptions = {},
): AsyncGenerator<RawLine[]> {
  const file = await openRollout(path, conversationId);
  try {
    // Starts one byte earlier, because a line that begins before the range belongs to the previous range.
    const from = Math.max(0, range.from - 1);
    let hasBegun = range.from === 0;
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const { bytes, offset } of chunks(file, { from, to: upTo })) {
      const batch: RawLine[] = [];
      let begin = 0;
      if (!hasBegun) {
        const end = bytes.indexOf(newline);
        begin = end === -1 ? bytes.length : end + 1;
        if (offset + begin >= range.before) return;
        hasBegun = end !== -1;
        if (!hasBegun) continue;
      }
      for (let end = bytes.indexOf(newline, begin); end !== -1; end = bytes.indexOf(newline, begin)) {
        pieces.push(bytes.subarray(begin, end));
        batch.push({ status: "line", bytes: joined(pieces), terminated: true });
        pieces.length = 0;
        length = 0;
        begin = end + 1;
        if (offset + begin < range.before) continue;
        yield batch;
        return;
      }
      if (begin < bytes.length) pieces.push(bytes.subarray(begin));
      length += bytes.length - begin;
      if (length > maxLineBytes) batch.push({ status: "too_long" });
      if (batch.length > 0) yield batch;
      if (length > maxLineBytes) return;
    }
    if (length > 0) yield [{ status: "line", bytes: joined(pieces), terminated: false }];
  } finally {
    await file.close();
  }
}

const allLines: LineRange = { from: 0, before: Number.POSITIVE_INFINITY };

/** Opens a rollout without following links and without waiting for the other end of a pipe. */
export async function openRollout(path: string, conversationId: string): Promise<FileHandle> {
  try {
    return (await openRegular(path, { links: "refuse" })).file;
  } catch (error) {
    if (error instanceof NotRegularError) {
      throw new InvalidInputError(`Conversation ${conversationId}: its rollout is not a regular file`);
    }
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") throw new ConversationNotFoundError(conversationId);
    throw error;
  }
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
}

interface Chunk {
  /** Offset of the chunk in the file. */
  readonly offset: number;
  readonly bytes: Buffer;
}

interface ChunkOptions {
  readonly from: number;
  /** End offset; may be beyond the end of the file. */
  readonly to: number;
}

/** Yields a file in chunks and reads the next one while the caller processes the current one. */
async function* chunks(file: FileHandle, { from, to }: ChunkOptions): AsyncGenerator<Chunk> {
  let offset = from;
  let reading = read(file, offset, Math.min(chunkBytes, to - offset));
  for (;;) {
    const bytes = await reading;
    if (bytes.length === 0) return;
    reading = read(file, offset + bytes.length, Math.min(chunkBytes, to - offset - bytes.length));
    // The next iteration rethrows a failure; without one it must not become an unhandled rejection.
    reading.catch(() => undefined);
    yield { offset, bytes };
    offset += bytes.length;
  }
}

async function read(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  if (length <= 0) return Buffer.of();
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}
