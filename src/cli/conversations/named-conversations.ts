import { type ConversationPlaces, namesFile, pinsFile } from "../../config/paths.js";
import type { ConversationSummary } from "../../rollouts/list/list.js";
import { readNamesSync, withNames, readPinsSync, withPins } from "../../rollouts/list/names-and-pins.js";

export type SavedConversation = ConversationSummary & { readonly name?: string; readonly pinned?: true };

/** Adds names and pins, which are stored beside the files, to the conversations found in a directory. */
export function namedConversations(
  directory: string,
  places: Pick<ConversationPlaces, "codexHome" | "home">,
  found: readonly ConversationSummary[],
): SavedConversation[] {
  const named = withNames(found, readNamesSync(namesFile(directory, places.codexHome)));
  return withPins(named, readPinsSync(pinsFile(directory, places)));
}
