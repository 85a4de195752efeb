import { promises } from "node:fs";
import { dirname } from "node:path";
import { bareId } from "../../base/text/conversation-id.js";
import { isPrintable } from "../../base/text/conversation-name.js";
import { appendToIndex, entriesIn, readIndex, readIndexSync } from "./index-file.js";

/** A conversation's name, and since when it has it, in milliseconds since 1970. */
interface NameEntry {
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
 * Writes a conversation's name to the index, in Codex's format. Mode `repair` repairs the index, so it does not
 * override a newer name.
 */
export async function writeName(
  path: string,
  id: string,
  { name, namedAt }: NameEntry,
  mode: "rename" | "repair",
): Promise<void> {
  const current = (await readNames(path)).get(id);
  if (current?.name === name || (mode === "repair" && current !== undefined && current.namedAt > namedAt)) return;
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

function namesIn(lines: readonly string[]): Names {
  return entriesIn(lines, ({ thread_name: name }, { updatedAt: namedAt }) =>
    typeof name === "string" && name !== "" && isPrintable(name) ? { name, namedAt } : undefined,
  );
}

/** Whether a conversation is pinned, and since when, in milliseconds since 1970. */
interface PinEntry {
  readonly pinned: boolean;
  readonly pinnedAt: number;
}

type Pins = ReadonlyMap<string, PinEntry>;

/** Reads the pins of the conversations in a directory, by id; empty when there is no index. */
export async function readPins(path: string): Promise<Pins> {
  return pinsIn(await readIndex(path));
}

/** Synchronous variant for short commands. */
export function readPinsSync(path: string): Pins {
  return pinsIn(readIndexSync(path));
}

/** Writes a conversation's pin to the index. Mode `repair` repairs the index, so it does not override a newer entry. */
export async function writePin(
  path: string,
  id: string,
  { pinned, pinnedAt }: PinEntry,
  mode: "pin" | "repair",
): Promise<void> {
  const current = (await readPins(path)).get(id);
  if (
    (current?.pinned ?? false) === pinned ||
    (mode === "repair" && current !== undefined && current.pinnedAt > pinnedAt)
  )
    return;
  // Cody's home, which holds the pins of Codex's conversations, may not exist yet.
  await promises.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await appendToIndex(path, { id: bareId(id), pinned, updated_at: new Date(pinnedAt).toISOString() });
}

/** Marks the pinned conversations of a list. */
export function withPins<T extends { readonly id: string }>(
  conversations: readonly T[],
  pins: Pins,
): (T & { readonly pinned?: true })[] {
  return conversations.map((conversation) =>
    pins.get(conversation.id)?.pinned === true ? { ...conversation, pinned: true } : conversation,
  );
}

function pinsIn(lines: readonly string[]): Pins {
  return entriesIn(lines, ({ pinned }, { updatedAt: pinnedAt }) =>
    typeof pinned === "boolean" ? { pinned, pinnedAt } : undefined,
  );
}
