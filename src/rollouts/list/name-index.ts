import { bareId, isConversationId, shownId } from "../../base/text/conversation-id.js";
import { isPrintable } from "../../base/text/conversation-name.js";
import { isRecord } from "../../base/is-record.js";
import { appendToIndex, readIndex, readIndexSync } from "./index-file.js";

/** A conversation's name, and since when it has it, in milliseconds since 1970. */
export interface NameEntry {
  readonly name: string;
  readonly namedAt: number;
}

export type Names = ReadonlyMap<string, NameEntry>;

/** Reads the names of the conversations in a directory, by id; empty when there is no index. */
export async function readNames(path: string): Promise<Names> {
  return namesIn(await readIndex(path));
}

/** Synchronous variant for short commands. */
export function readNamesSync(path: string): Names {
  return namesIn(readIndexSync(path));
}

/**
 * Writes a conversation's name to the index, in Codex's format. Mode `mend` repairs the index, so it does not
 * override a newer name.
 */
export async function writeName(
  path: string,
  id: string,
  { name, namedAt }: NameEntry,
  mode: "rename" | "mend",
): Promise<void> {
  const said = (await readNames(path)).get(id);
  if (said?.name === name || (mode === "mend" && said !== undefined && said.namedAt > namedAt)) return;
  await appendToIndex(path, { id: bareId(id), thread_name: name, updated_at: new Date(namedAt).toISOString() });
}

/** Adds names to the conversations of a list. */
export function withNames<T extends { readonly id: string }>(
  conversations: readonly T[],
  names: Names,
): (T & { readonly name?: string })[] {
  return conversations.map((conversation) => {
    const name = names.get(conversation.id)?.name;
    return name === undefined ? conversation : { ...conversation, name };
  });
}

/** The last entry of an id counts; invalid lines are skipped. */
function namesIn(lines: readonly string[]): Names {
  return new Map(lines.flatMap(entryOf));
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
