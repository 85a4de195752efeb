import { isUtf8 } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import { ConversationNotFoundError, InvalidInputError } from "../../base/errors.js";
import { NotRegularError, openRegular } from "../../base/fs/open-regular.js";
import { isDeeperThan } from "../../base/is-deeper-than.js";
import { isRecord } from "../../base/is-record.js";
import { visible } from "../../base/text/visible.js";
import { detectLineFormat } from "../formats/lines/detect-format.js";

const chunkBytes = 256 * 1024;

export const newline = 0x0a;

const allLines: LineRange = { from: 0, before: Number.POSITIVE_INFINITY };

/** Longer lines count as damage: neither cody nor Codex writes them, and a line must fit in memory. */
export const maxLineBytes = 256 * 1024 * 1024;

/** Lines nested deeper count as damage, because they could not be written again. Codex reads at most 128 levels. */
export const maxLineDepth = 500;
/** Lines of these types contain items of other lines, which are nested a little deeper there. */
const replacingTypes = new Set(["compacted", "cody"]);
const replacingDepth = maxLineDepth + 10;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Matches the parts of V8's messages that quote at most one character of the text. */
const safeMessage = /^Unexpected token '.{1,2}?'(?=, )|^[^"]+ JSON at position \d+|^Unexpected end of JSON input/su;

export interface LineObject {
  readonly type: string;
  readonly [key: string]: unknown;
}

export type LineBytes =
  | { readonly status: "blank" }
  | { readonly status: "object"; readonly value: LineObject }
  /** `detail` is the parser's message without its excerpt of the file, which may contain a secret. */
  | { readonly status: "bad"; readonly detail: string };

/** Parses the bytes between two newlines. Loads no schema library, because the writer and short commands use it. */
export function readLineBytes(bytes: Buffer): LineBytes {
  if (bytes.length > maxLineBytes) return bad("the line is too long");
  if (!isUtf8(bytes)) return bad("not valid UTF-8");
  const text = bytes.toString("utf8");
  if (/^[ \t\r]*$/.test(text)) return { status: "blank" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return bad(`not valid JSON${parserMessage(error)}`);
  }
  const object = lineObject(value);
  if (object === undefined) return bad("not an object with a type");
  // Each level takes at least two bytes, so shorter lines need no check.
  const levels = replacingTypes.has(object.type) ? replacingDepth : maxLineDepth;
  return bytes.length > 2 * levels && isDeeperThan(object, levels)
    ? bad("nested too deeply")
    : { status: "object", value: object };
}

/** Removes the byte order mark with which a file may begin. */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? bytes.subarray(byteOrderMark.length) : bytes;
}

/** Derives a `type` for forms whose lines have none. */
export function lineObject(value: unknown): LineObject | undefined {
  if (!isRecord(value)) return undefined;
  if (typeof value["type"] === "string") return value as LineObject;
  const form = detectLineFormat(value);
  return form === undefined ? undefined : { ...value, type: `(${form})` };
}

/** Returns V8's message up to the position, which is relative to the line. */
function parserMessage(error: unknown): string {
  const [message] = safeMessage.exec((error as Error).message) ?? [];
  return message === undefined ? "" : `: ${visible(message)}`;
}

function bad(detail: string): LineBytes {
  return { status: "bad", detail };
}

type RawLine =
  | { readonly status: "line"; readonly bytes: Buffer; readonly terminated: boolean }
  /** The line exceeds the limit; nothing after it is read. */
  | { readonly status: "too_long" };

/** Selects the lines that begin between two offsets, each read to its end. */
export interface LineRange {
  readonly from: number;
  readonly before: number;
}

/** Yields the lines of a file, or of its first `upTo` bytes. The file is open only during the iteration. */
export async function* rawLines(path: string, conversationId: string, upTo?: number): AsyncGenerator<RawLine> {
  for await (const batch of rawBatches(path, conversationId, { upTo })) yield* batch;
}

interface RawBatchOptions {
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
        batch.push({ status: "line", bytes: joinPieces(pieces), terminated: true });
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
    if (length > 0) yield [{ status: "line", bytes: joinPieces(pieces), terminated: false }];
  } finally {
    await file.close();
  }
}

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

/** Joins the pieces of a line; a single piece is not copied. */
export function joinPieces(pieces: readonly Buffer[]): Buffer {
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
