import { homePaths } from "../config/paths.js";
import { codexSessions, type ConversationPlaces, everyDirectory } from "../config/places.js";
import { listPageSync, type SyncListOptions } from "../rollouts/list-sync.js";
import type { CommandContext } from "./context.js";
import { namedConversations, type SavedConversation } from "./named-conversations.js";
import { ProjectMembers } from "./project-members.js";

/** The saved conversations, newest first. */
export function savedConversations(
  context: Pick<CommandContext, "home">,
  places: Pick<ConversationPlaces, "directory" | "codexHome">,
): SavedConversation[] {
  return savedPage(context, places, {}).conversations;
}

/** A page of them, and how many there are in all. */
export function savedPage(
  { home }: Pick<CommandContext, "home">,
  { directory, codexHome }: Pick<ConversationPlaces, "directory" | "codexHome">,
  page: Pick<SyncListOptions, "limit" | "after">,
): { readonly conversations: SavedConversation[]; readonly total: number } {
  const { conversations, heads, codexHeads } = homePaths(home);
  const isCodex = codexHome !== undefined && directory === codexSessions(codexHome);
  const cached: SyncListOptions = isCodex ? { cache: codexHeads } : {};
  const own: SyncListOptions = directory === conversations ? { cache: heads, own: { now: Date.now() } } : cached;
  const { conversations: found, total } = listPageSync(directory, { ...own, ...page });
  return { conversations: namedConversations(directory, { codexHome, home }, found), total };
}

/** Those of every place conversations are kept in; of two with one id the one `cody resume` would take. */
export function conversationsEverywhere(
  context: Pick<CommandContext, "home">,
  places: ConversationPlaces,
): SavedConversation[] {
  const found = new Map<string, SavedConversation>();
  for (const directory of everyDirectory(context.home, places)) {
    for (const conversation of savedIn(directory)) {
      if (!found.has(conversation.id)) found.set(conversation.id, conversation);
    }
  }
  return [...found.values()];

  function savedIn(directory: string): SavedConversation[] {
    try {
      return savedConversations(context, { directory, codexHome: places.codexHome });
    } catch (error) {
      // Another program's directory that cannot be read must not keep anybody from their own conversations.
      if (directory === places.directory) throw error;
      return [];
    }
  }
}

/** Those of one project. */
export async function projectConversations(
  context: Pick<CommandContext, "home">,
  places: ConversationPlaces,
  projectRoot: string,
): Promise<SavedConversation[]> {
  return await ofProject(context, savedConversations(context, places), projectRoot);
}

export async function ofProject(
  { home }: Pick<CommandContext, "home">,
  all: readonly SavedConversation[],
  projectRoot: string,
): Promise<SavedConversation[]> {
  const members = await ProjectMembers.open(home, projectRoot);
  const own: SavedConversation[] = [];
  for (const each of all) if (await members.includes(each)) own.push(each);
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
