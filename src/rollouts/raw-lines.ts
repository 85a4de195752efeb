import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { ConversationNotFoundError, InvalidInputError } from "../messages/errors.js";
import { maxLineBytes } from "./line-object.js";

export type RawLine =
  | { readonly status: "line"; readonly bytes: Buffer; readonly terminated: boolean }
  /** It does not end within the bound; nothing behind it is read. */
  | { readonly status: "too_long" };

const chunkBytes = 64 * 1024;
const newline = 0x0a;

/** The bytes between the newlines of a file, or of its first bytes, in pieces; it is open only while someone iterates. */
export async function* rawLines(
  path: string,
  conversationId: string,
  upTo: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<RawLine> {
  const file = await openRegularFile(path, conversationId);
  try {
    const pieces: Buffer[] = [];
    let length = 0;
    for (let left = upTo; left > 0;) {
      const size = Math.min(chunkBytes, left);
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(size), 0, size, null);
      if (bytesRead === 0) break;
      left -= bytesRead;
      let from = 0;
      for (let to = buffer.indexOf(newline); to !== -1 && to < bytesRead; to = buffer.indexOf(newline, from)) {
        pieces.push(buffer.subarray(from, to));
        yield { status: "line", bytes: joined(pieces), terminated: true };
        pieces.length = 0;
        length = 0;
        from = to + 1;
      }
      if (from < bytesRead) pieces.push(buffer.subarray(from, bytesRead));
      length += bytesRead - from;
      if (length > maxLineBytes) {
        yield { status: "too_long" };
        return;
      }
    }
    if (length > 0) yield { status: "line", bytes: joined(pieces), terminated: false };
  } finally {
    await file.close();
  }
}

/** Neither follows a link nor waits for the other end of a pipe. */
export async function openRegularFile(path: string, conversationId: string): Promise<FileHandle> {
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

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
}
