import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readLineBytes, withoutMark, maxLineBytes } from "../file/lines.js";
import { readFlags } from "../../base/fs/open-regular.js";
import { type ConversationFacts, ConversationFold, type SearchableMessage } from "./conversation-fold.js";

const chunkBytes = 256 * 1024;

const newline = 0x0a;

/** The position up to which a file was read, with data to verify that this part is unchanged. */
export interface ReadMark {
  readonly inode: number;
  readonly readTo: number;
  /** Digest of the last bytes read. */
  readonly tail: string;
  readonly facts: ConversationFacts;
}

const tailBytes = 256;

interface ReadingHooks {
  /** Position at which to continue, if the part before it is unchanged. */
  readonly before?: ReadMark | undefined;
  /** Called first, with whether reading continues there or starts over. */
  readonly onStart?: (isContinued: boolean) => void;
  readonly onMessage?: (message: SearchableMessage) => void;
}

/** Reads a conversation. Skips unreadable lines and a last line without a newline. */
export function readConversation(
  { id, path }: { readonly id: string; readonly path: string },
  { before, onStart, onMessage }: ReadingHooks,
): ReadMark {
  using file = new OpenRollout(path);
  const mark = before !== undefined && isStill(file, before) ? before : undefined;
  onStart?.(mark !== undefined);
  const fold = new ConversationFold(id, mark?.facts);
  let readTo = mark?.readTo ?? 0;
  for (const { offset, bytes } of file.lines(readTo)) {
    readTo = offset + bytes.length + 1;
    const read = readLineBytes(offset === 0 ? withoutMark(bytes) : bytes);
    if (read.status !== "object") continue;
    for (const message of fold.add(read.value, offset)) onMessage?.(message);
  }
  return { inode: file.inode, readTo, tail: tailOf(file, readTo), facts: fold.facts };
}

function isStill(file: OpenRollout, { inode, readTo, tail, facts }: ReadMark): boolean {
  if (facts.isForeign || file.inode !== inode || file.size < readTo) return false;
  return tailOf(file, readTo) === tail;
}

function tailOf(file: OpenRollout, readTo: number): string {
  const length = Math.min(tailBytes, readTo);
  return createHash("sha256")
    .update(file.bytes(readTo - length, length))
    .digest("hex");
}

/** A line that ends with a newline, and its offset in the file. */
interface WholeLine {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** An open rollout, read synchronously; only for commands that do nothing else. */
class OpenRollout {
  readonly #fd: number;
  readonly inode: number;
  readonly size: number;

  constructor(path: string) {
    this.#fd = openSync(path, readFlags);
    const stats = fstatSync(this.#fd);
    this.inode = stats.ino;
    this.size = stats.isFile() ? stats.size : 0;
  }

  /** Yields the complete lines from an offset, which must be the start of a line. */
  *lines(from: number): Generator<WholeLine> {
    let offset = from;
    let rest: Buffer = Buffer.of();
    for (;;) {
      const chunk = this.bytes(offset + rest.length, chunkBytes);
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      // A longer line is damage, and nothing after it can be trusted.
      if (chunk.length === 0 || bytes.length > maxLineBytes) return;
      let begin = 0;
      for (let end = bytes.indexOf(newline, rest.length); end !== -1; end = bytes.indexOf(newline, begin)) {
        yield { offset: offset + begin, bytes: bytes.subarray(begin, end) };
        begin = end + 1;
      }
      offset += begin;
      rest = bytes.subarray(begin);
    }
  }

  bytes(from: number, length: number): Buffer {
    const wanted = Math.max(0, Math.min(length, this.size - from));
    const buffer = Buffer.allocUnsafe(wanted);
    return buffer.subarray(0, readSync(this.#fd, buffer, 0, wanted, from));
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}
