import { type ConversationPlaces, namesFile, pinsFile } from "../../config/places.js";
import type { ConversationSummary } from "../../rollouts/list/list.js";
import { readNamesSync, withNames } from "../../rollouts/list/name-index.js";
import { readPinsSync, withPins } from "../../rollouts/list/pin-index.js";

export type SavedConversation = ConversationSummary & { readonly name?: string; readonly pinned?: true };

/** What a list has found in a directory, with what is kept there beside the files. */
export function namedConversations(
  directory: string,
  places: Pick<ConversationPlaces, "codexHome" | "home">,
  found: readonly ConversationSummary[],
): SavedConversation[] {
  const named = withNames(found, readNamesSync(namesFile(directory, places.codexHome)));
  return withPins(named, readPinsSync(pinsFile(directory, places)));
}
