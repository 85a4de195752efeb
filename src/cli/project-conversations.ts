import { homePaths } from "../config/paths.js";
import { codexSessions, type ConversationPlaces, namesFile } from "../config/places.js";
import type { ConversationSummary } from "../rollouts/list.js";
import { listConversationsSync } from "../rollouts/list-sync.js";
import { readNamesSync, withNames } from "../rollouts/name-index.js";
import type { CommandContext } from "./context.js";
import { ProjectMembers } from "./project-members.js";

export type SavedConversation = ConversationSummary & { readonly name?: string };

/** The saved conversations, newest first. */
export function savedConversations(
  { home }: Pick<CommandContext, "home">,
  { directory, codexHome }: ConversationPlaces,
  limit?: number,
): SavedConversation[] {
  const isCodex = codexHome !== undefined && directory === codexSessions(codexHome);
  const conversations = listConversationsSync(directory, {
    ...(isCodex ? { cache: homePaths(home).codexHeads } : {}),
    ...(limit === undefined ? {} : { limit }),
  });
  return withNames(conversations, readNamesSync(namesFile(directory, codexHome)));
}

/** Those of one project. */
export async function projectConversations(
  context: Pick<CommandContext, "home">,
  places: ConversationPlaces,
  projectRoot: string,
): Promise<SavedConversation[]> {
  const members = await ProjectMembers.open(context.home, projectRoot);
  const own: SavedConversation[] = [];
  for (const each of savedConversations(context, places)) if (await members.includes(each)) own.push(each);
  return own;
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
