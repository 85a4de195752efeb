import { createHash } from "node:crypto";
import { readLineBytes, withoutMark } from "../file/line-object.js";
import type { ConversationFacts } from "./conversation-facts.js";
import { ConversationFold } from "./conversation-fold.js";
import type { SaidMessage } from "./said-message.js";
import { OpenRollout } from "./whole-lines.js";

/** How far a file has been read, and how it can be told that what was read is still there. */
export interface ReadMark {
  readonly inode: number;
  readonly readTo: number;
  /** A digest of the last bytes that were read. */
  readonly tail: string;
  readonly facts: ConversationFacts;
}

const tailBytes = 256;

export interface ReadingHooks {
  /** Where somebody wants to go on, if what was read is still there. */
  readonly before?: ReadMark | undefined;
  /** Hears first whether it goes on there; else it begins anew. */
  readonly onStart?: (isContinued: boolean) => void;
  readonly onMessage?: (message: SaidMessage) => void;
}

/** Reads a conversation. Lines that cannot be read are passed over, and so is what has no newline yet. */
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
