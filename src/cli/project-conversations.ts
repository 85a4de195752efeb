import { homePaths } from "../config/paths.js";
import { type ConversationPlaces, isCodexs, namesFile, pinsFile } from "../config/places.js";
import { findProjectRoot } from "../config/project.js";
import type { ConversationSummary } from "../rollouts/list.js";
import { listConversationsSync } from "../rollouts/list-sync.js";
import { readNamesSync, withNames } from "../rollouts/name-index.js";
import { readPinsSync, withPins } from "../rollouts/pin-index.js";
import type { CommandContext } from "./context.js";

export type SavedConversation = ConversationSummary & { readonly name?: string; readonly pinned?: true };

/** The saved conversations, newest first. */
export function savedConversations(
  { home }: Pick<CommandContext, "home">,
  places: ConversationPlaces,
  limit?: number,
): SavedConversation[] {
  const { directory, codexHome } = places;
  const conversations = listConversationsSync(directory, {
    ...(isCodexs(directory, places) ? { cache: homePaths(home).codexHeads } : {}),
    ...(limit === undefined ? {} : { limit }),
  });
  const named = withNames(conversations, readNamesSync(namesFile(directory, codexHome)));
  return withPins(named, readPinsSync(pinsFile(directory, places)));
}

/** Those of one project. */
export async function projectConversations(
  context: Pick<CommandContext, "home">,
  places: ConversationPlaces,
  projectRoot: string,
): Promise<SavedConversation[]> {
  const all = savedConversations(context, places);
  const folders = [...new Set(all.flatMap(({ cwd }) => cwd ?? []))];
  const roots = await Promise.all(folders.map(async (cwd) => [cwd, await findProjectRoot(cwd)] as const));
  const own = new Set(roots.flatMap(([cwd, root]) => (root === projectRoot ? [cwd] : [])));
  return all.filter(({ cwd }) => cwd !== undefined && own.has(cwd));
}

/** The newest one somebody has said something in. */
export async function newestConversation(
  context: Pick<CommandContext, "home">,
  places: ConversationPlaces,
  projectRoot: string,
): Promise<string | undefined> {
  const conversations = await projectConversations(context, places, projectRoot);
  return conversations.find(({ empty }) => !empty)?.id;
}
