import { homePaths } from "../config/paths.js";
import { codexSessions, type ConversationPlaces, everyDirectory } from "../config/places.js";
import { registeredInSync } from "../rollouts/codex-register.js";
import { listConversationsSync, type SyncListOptions } from "../rollouts/list-sync.js";
import type { CommandContext } from "./context.js";
import { type ListOrder, ordered } from "./list-order.js";
import { namedConversations, type SavedConversation } from "./named-conversations.js";
import { ProjectMembers } from "./project-members.js";

type Page = Pick<SyncListOptions, "limit" | "after">;

/** The saved conversations of all layouts, newest first; of those in Codex's directory what cody has begun. */
export function savedConversations(
  context: Pick<CommandContext, "home">,
  places: Pick<ConversationPlaces, "directory" | "alsoListed" | "codexHome">,
  page: Page = {},
): SavedConversation[] {
  const { codexHome } = places;
  const own = conversationsIn(context, places, page);
  const ids = new Set(own.map(({ id }) => id));
  const others = places.alsoListed.flatMap((directory) =>
    conversationsIn(context, { directory, codexHome, isOther: true }, page).filter(({ id }) => !ids.has(id)),
  );
  return others.length === 0 ? own : ordered([...own, ...others], newestFirst).slice(0, page.limit);
}

const newestFirst: ListOrder = { name: "updated", after: undefined };

interface OneDirectory extends Pick<ConversationPlaces, "directory" | "codexHome"> {
  /** Whether it belongs to another layout: what Codex wrote itself is left out, and what cannot be read is nothing. */
  readonly isOther?: boolean;
}

function conversationsIn(
  { home }: Pick<CommandContext, "home">,
  { directory, codexHome, isOther = false }: OneDirectory,
  page: Page = {},
): SavedConversation[] {
  const { conversations, heads, codexHeads, codexRegister, registeredHeads } = homePaths(home);
  const isCodex = codexHome !== undefined && directory === codexSessions(codexHome);
  const cached: SyncListOptions = isCodex ? { cache: codexHeads } : {};
  const own: SyncListOptions = directory === conversations ? { cache: heads, own: { now: Date.now() } } : cached;
  const registered: SyncListOptions =
    isCodex && isOther ? { cache: registeredHeads, files: registeredInSync(codexRegister, directory) } : {};
  try {
    const found = listConversationsSync(directory, { ...own, ...registered, ...page });
    return namedConversations(directory, { codexHome, home }, found);
  } catch (error) {
    // A directory that cannot be read must not hide the conversations of the others.
    if (!isOther) throw error;
    return [];
  }
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
      return conversationsIn(context, { directory, codexHome: places.codexHome });
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
