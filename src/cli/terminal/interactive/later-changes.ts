import type { Conversation } from "../../../actors/conversation/handle.js";
import type { ConversationPlaces } from "../../../config/paths.js";
import { SavedChanges } from "../../commands/changes/saved-changes.js";

/** The number of turns after one that changed files and were not undone. */
export async function laterChanges(
  { id, rolloutPath }: Conversation,
  places: ConversationPlaces,
  env: Readonly<NodeJS.ProcessEnv>,
  after: number,
): Promise<number> {
  if (rolloutPath === null) return 0;
  const changes = await SavedChanges.read(places, { id, path: rolloutPath }, env);
  const numbers = [...changes.turns.values()].filter((number) => number > after);
  return numbers.filter((number) => !changes.diff(number).isEmpty && changes.reverted(number).length === 0).length;
}
