import { ConversationNotFoundError, InvalidInputError } from "../../base/errors.js";
import { ambiguous, findConversation } from "./find-conversation.js";
import { type RolloutName, rolloutsIn } from "./layout-files.js";
import { readNames } from "./name-index.js";

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
