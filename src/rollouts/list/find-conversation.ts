import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { ConversationNotFoundError, InvalidInputError } from "../../base/errors.js";
import { bareId, isConversationId, shownId } from "../../base/text/conversation-id.js";
import { type RolloutName, rolloutsIn } from "./layout-files.js";
import { readNames } from "./names-and-pins.js";

const maxNamed = 5;

/**
 * Finds the one conversation with this id (`conv_…` or a bare UUID) or id prefix. The first directory has priority;
 * the others are searched only if it has no match. Only file names are read, in any layout.
 */
export async function findConversation(directories: readonly string[], text: string): Promise<RolloutName> {
  const exact = await findById(directories, text);
  if (exact !== undefined) return exact;
  for (const [index, directory] of directories.entries()) {
    const all = await rolloutsOf(directory, index);
    const matches = all.filter(({ id }) => id.startsWith(text) || bareId(id).startsWith(text));
    const [only] = matches;
    if (matches.length > 1) throw ambiguous(text, matches);
    if (only !== undefined) return only;
  }
  throw new ConversationNotFoundError(text);
}

/** Finds the conversation with exactly this id, in either form. */
export async function findById(directories: readonly string[], text: string): Promise<RolloutName | undefined> {
  // Checked before any file access, because the text may be a path.
  if (!isConversationId(text)) throw new ConversationNotFoundError(text);
  const id = shownId(text);
  const [own] = directories;
  const flat = own === undefined ? undefined : await flatFile(own, id);
  if (flat !== undefined) return flat;
  for (const [index, directory] of directories.entries()) {
    // Conversations in the directories of other programs have UUIDs.
    if (index > 0 && bareId(id) === id) break;
    const found = (await rolloutsOf(directory, index)).find((rollout) => rollout.id === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Fast path: most conversations are found without reading a directory. */
async function flatFile(directory: string, id: string): Promise<RolloutName | undefined> {
  const path = join(directory, `${id}.jsonl`);
  const stats = await lstat(path).catch(() => undefined);
  return stats === undefined || stats.isDirectory() ? undefined : { id, path };
}

/** An unreadable directory of another program must not block access to cody's own conversations. */
function rolloutsOf(directory: string, index: number): Promise<RolloutName[]> {
  return index === 0 ? rolloutsIn(directory) : rolloutsIn(directory).catch(() => []);
}

function ambiguous(text: string, matches: readonly RolloutName[]): InvalidInputError {
  const ids = matches.map(({ id }) => id).toSorted();
  const named = ids.slice(0, maxNamed).join(", ");
  const more = ids.length > maxNamed ? ` and ${ids.length - maxNamed} more` : "";
  return new InvalidInputError(`${text} matches ${ids.length} conversations: ${named}${more}`);
}

/** A directory with conversations, and the index file with their names. */
export interface NamedDirectory {
  readonly directory: string;
  readonly names: string;
}

/** Finds the one conversation with this id, id prefix, or else complete name. */
export async function findByIdOrName(places: readonly NamedDirectory[], text: string): Promise<RolloutName> {
  try {
    return await findConversation(
      places.map(({ directory }) => directory),
      text,
    );
  } catch (error) {
    // An ambiguous id prefix may still be the name of one conversation.
    const isOpen = error instanceof ConversationNotFoundError || error instanceof InvalidInputError;
    const named = isOpen ? await findNamed(places, text.trim()) : undefined;
    if (named !== undefined) return named;
    throw error;
  }
}

async function findNamed(places: readonly NamedDirectory[], name: string): Promise<RolloutName | undefined> {
  for (const { directory, names } of places) {
    const ids = new Set([...(await readNames(names))].flatMap(([id, entry]) => (entry.name === name ? [id] : [])));
    // The index may still contain the names of deleted conversations.
    const matches = ids.size === 0 ? [] : (await rolloutsIn(directory)).filter(({ id }) => ids.has(id));
    const [only] = matches;
    if (matches.length > 1) throw ambiguous(name, matches);
    if (only !== undefined) return only;
  }
  return undefined;
}
