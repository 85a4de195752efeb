import { promises } from "node:fs";
import { dirname } from "node:path";
import { bareId } from "../../base/text/conversation-id.js";
import { appendToIndex, entriesIn, readIndex, readIndexSync } from "./index-file.js";

/** Whether a conversation is pinned, and since when, in milliseconds since 1970. */
export interface PinEntry {
  readonly pinned: boolean;
  readonly pinnedAt: number;
}

export type Pins = ReadonlyMap<string, PinEntry>;

/** Reads the pins of the conversations in a directory, by id; empty when there is no index. */
export async function readPins(path: string): Promise<Pins> {
  return pinsIn(await readIndex(path));
}

/** Synchronous variant for short commands. */
export function readPinsSync(path: string): Pins {
  return pinsIn(readIndexSync(path));
}

/** Writes a conversation's pin to the index. Mode `mend` repairs the index, so it does not override a newer entry. */
export async function writePin(
  path: string,
  id: string,
  { pinned, pinnedAt }: PinEntry,
  mode: "pin" | "mend",
): Promise<void> {
  const said = (await readPins(path)).get(id);
  if ((said?.pinned ?? false) === pinned || (mode === "mend" && said !== undefined && said.pinnedAt > pinnedAt)) return;
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
