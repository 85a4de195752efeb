import { namesFile } from "../config/places.js";
import type { ConversationSummary } from "../rollouts/list.js";
import { readNamesSync, withNames } from "../rollouts/name-index.js";

export type SavedConversation = ConversationSummary & { readonly name?: string };

/** What a list has found in a directory, with what is kept there beside the files. */
export function namedConversations(
  directory: string,
  codexHome: string | undefined,
  found: readonly ConversationSummary[],
): SavedConversation[] {
  return withNames(found, readNamesSync(namesFile(directory, codexHome)));
}
