import * as fs from "node:fs";
import { bareId, isConversationId, shownId } from "../messages/conversation-id.js";
import { isPrintable } from "../messages/conversation-name.js";
import { isRecord } from "./line-object.js";
import { openFlags } from "./open-flags.js";

/** How a conversation is called, and since when, in milliseconds since 1970. */
export interface NameEntry {
  readonly name: string;
  readonly namedAt: number;
}

export type Names = ReadonlyMap<string, NameEntry>;

/** Some hundred thousand names; of a longer file the newest part counts. */
const maxIndexBytes = 16 * 1024 * 1024;
const appendFlags =
  fs.constants.O_RDWR |
  fs.constants.O_APPEND |
  fs.constants.O_CREAT |
  fs.constants.O_NOFOLLOW |
  fs.constants.O_NONBLOCK;
const newline = 0x0a;

/** The names of the conversations in a directory, by id; none when there is no index. */
export async function readNames(path: string): Promise<Names> {
  try {
    const file = await fs.promises.open(path, openFlags);
    try {
      const stats = await file.stat();
      const { from, buffer } = newestPart(stats);
      const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
      return namesIn(buffer.toString("utf8", 0, bytesRead));
    } finally {
      await file.close();
    }
  } catch {
    return new Map();
  }
}

/** The same for a command that does nothing else. */
export function readNamesSync(path: string): Names {
  try {
    const fd = fs.openSync(path, openFlags);
    try {
      const { from, buffer } = newestPart(fs.fstatSync(fd));
      return namesIn(buffer.toString("utf8", 0, fs.readSync(fd, buffer, 0, buffer.length, from)));
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return new Map();
  }
}

/**
 * Says in the index how a conversation is called; to `mend` it, only when nothing newer is said there. A copy of what
 * stands in the rollout, so nobody waits for the disk; in the form Codex has for its own.
 */
export async function writeName(
  path: string,
  id: string,
  { name, namedAt }: NameEntry,
  mode: "rename" | "mend",
): Promise<void> {
  const said = (await readNames(path)).get(id);
  if (said?.name === name || (mode === "mend" && said !== undefined && said.namedAt > namedAt)) return;
  const file = await fs.promises.open(path, appendFlags, 0o600);
  try {
    const { size } = await file.stat();
    // A new one: the umask may have taken bits away.
    if (size === 0) await file.chmod(0o600);
    const last = Buffer.alloc(1);
    if (size > 0) await file.read(last, 0, 1, size - 1);
    const entry = { id: bareId(id), thread_name: name, updated_at: new Date(namedAt).toISOString() };
    // Who died in the middle of a line must not take the next one with it.
    await file.appendFile(`${size > 0 && last[0] !== newline ? "\n" : ""}${JSON.stringify(entry)}\n`);
  } finally {
    await file.close();
  }
}

/** What a list has of each conversation, and how it is called. */
export function withNames<T extends { readonly id: string }>(
  conversations: readonly T[],
  names: Names,
): (T & { readonly name?: string })[] {
  return conversations.map((conversation) => {
    const name = names.get(conversation.id)?.name;
    return name === undefined ? conversation : { ...conversation, name };
  });
}

function newestPart(stats: fs.Stats): { from: number; buffer: Buffer } {
  const length = stats.isFile() ? Math.min(stats.size, maxIndexBytes) : 0;
  return { from: stats.size - length, buffer: Buffer.allocUnsafe(length) };
}

/** The last entry of an id counts; what is no entry is passed over. */
function namesIn(text: string): Names {
  return new Map(text.split("\n").flatMap(entryOf));
}

function entryOf(line: string): [id: string, entry: NameEntry][] {
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value)) return [];
    const { id, thread_name: name, updated_at: updatedAt } = value;
    if (typeof id !== "string" || !isConversationId(id)) return [];
    if (typeof name !== "string" || name === "" || !isPrintable(name)) return [];
    const namedAt = Date.parse(typeof updatedAt === "string" ? updatedAt : "");
    return [[shownId(id), { name, namedAt: Number.isNaN(namedAt) ? 0 : namedAt }]];
  } catch {
    return [];
  }
}
