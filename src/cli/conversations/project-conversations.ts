import { resolve, sep } from "node:path";
import { isDirectory } from "../../base/fs/path-checks.js";
import { hasCommit } from "../../base/git/git-commits.js";
import { homePaths, codexSessions, type ConversationPlaces, everyDirectory } from "../../config/paths.js";
import { findProjectRoot } from "../../config/project/project.js";
import { readRelinks, type Relink, relinked } from "../../config/project/relinks.js";
import { registeredInSync } from "../../rollouts/list/codex-register.js";
import { listPageSync, type SyncListOptions } from "../../rollouts/list/list-sync.js";
import { firstCommit } from "../../rollouts/file/rollout-id.js";
import { type ListOrder, sortConversations } from "../commands/conversations/list-page.js";
import type { CommandContext } from "../context.js";
import { namedConversations, type SavedConversation } from "./named-conversations.js";

type Page = Pick<SyncListOptions, "limit" | "after">;

/** The saved conversations of all layouts, newest first. From Codex's directory, only those that cody created. */
export function savedConversations(
  context: Pick<CommandContext, "home">,
  places: Pick<ConversationPlaces, "directory" | "alsoListed" | "codexHome">,
): SavedConversation[] {
  return savedPage(context, places, {}).conversations;
}

interface SavedPage {
  readonly conversations: SavedConversation[];
  /** The number of conversations on all pages together. */
  readonly total: number;
}

/** One page of the saved conversations. */
export function savedPage(
  context: Pick<CommandContext, "home">,
  places: Pick<ConversationPlaces, "directory" | "alsoListed" | "codexHome">,
  page: Page,
): SavedPage {
  const { codexHome } = places;
  const own = pageIn(context, places, page);
  const others = places.alsoListed.map((directory) => pageIn(context, { directory, codexHome, isOther: true }, page));
  const ids = new Set(own.conversations.map(({ id }) => id));
  const otherConversations = others.flatMap(({ conversations }) => conversations);
  const added = otherConversations.filter(({ id }) => !ids.has(id));
  const total =
    others.reduce((sum, other) => sum + other.total, own.total) - (otherConversations.length - added.length);
  if (added.length === 0) return { conversations: own.conversations, total };
  return {
    conversations: sortConversations([...own.conversations, ...added], newestFirst).slice(0, page.limit),
    total,
  };
}

const newestFirst: ListOrder = { name: "updated", after: undefined };

interface OneDirectory extends Pick<ConversationPlaces, "directory" | "codexHome"> {
  /**
   * True for the directory of another layout: Codex's own files are left out, and an unreadable directory counts as
   * empty.
   */
  readonly isOther?: boolean;
}

function pageIn(
  { home }: Pick<CommandContext, "home">,
  { directory, codexHome, isOther = false }: OneDirectory,
  page: Page = {},
): SavedPage {
  const { conversations, heads, codexHeads, codexRegister, registeredHeads } = homePaths(home);
  const isCodex = codexHome !== undefined && directory === codexSessions(codexHome);
  const cached: SyncListOptions = isCodex ? { cache: codexHeads } : {};
  const own: SyncListOptions = directory === conversations ? { cache: heads, own: { now: Date.now() } } : cached;
  const registered: SyncListOptions =
    isCodex && isOther ? { cache: registeredHeads, files: registeredInSync(codexRegister, directory) } : {};
  try {
    const { conversations: found, total } = listPageSync(directory, { ...own, ...registered, ...page });
    return { conversations: namedConversations(directory, { codexHome, home }, found), total };
  } catch (error) {
    // An unreadable directory must not hide the conversations in the others.
    if (!isOther) throw error;
    return { conversations: [], total: 0 };
  }
}

/** The conversations of all places. If two have the same id, the one that `cody resume` would open. */
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
      return pageIn(context, { directory, codexHome: places.codexHome }).conversations;
    } catch (error) {
      // Another program's unreadable directory must not hide the user's own conversations.
      if (directory === places.directory) throw error;
      return [];
    }
  }
}

/** The conversations of one project. */
export async function projectConversations(
  context: Pick<CommandContext, "home">,
  places: ConversationPlaces,
  projectRoot: string,
): Promise<SavedConversation[]> {
  return await filterByProject(context, savedConversations(context, places), projectRoot);
}

export async function filterByProject(
  { home }: Pick<CommandContext, "home">,
  all: readonly SavedConversation[],
  projectRoot: string,
): Promise<SavedConversation[]> {
  const members = await ProjectMembers.open(home, projectRoot);
  const own: SavedConversation[] = [];
  for (const each of all) if (await members.includes(each)) own.push(each);
  return own;
}

/** The newest conversation that has a message. */
export async function newestConversation(
  context: Pick<CommandContext, "home">,
  places: ConversationPlaces,
  projectRoot: string,
): Promise<string | undefined> {
  const conversations = await projectConversations(context, places, projectRoot);
  return conversations.find(({ empty }) => !empty)?.id;
}

/** The part of a conversation that decides which project it belongs to. */
interface Member {
  /** The folder in which it was started. */
  readonly cwd?: string;
  readonly path: string;
}

interface Folder {
  readonly at: string;
  readonly isThere: boolean;
  readonly isInProject: boolean;
}

/**
 * Decides which conversations belong to a project: those started below it, and those started in a folder that no longer
 * exists and that was this project, either according to `cody relink` or because the commit they were started at is in
 * its repository.
 */
export class ProjectMembers {
  readonly #root: string;
  readonly #relinks: readonly Relink[];
  readonly #folders = new Map<string, Promise<Folder>>();
  readonly #commits = new Map<string, Promise<boolean>>();

  private constructor(root: string, relinks: readonly Relink[]) {
    this.#root = root;
    this.#relinks = relinks;
  }

  static async open(home: string, root: string): Promise<ProjectMembers> {
    return new ProjectMembers(root, await readRelinks(home));
  }

  /** False if the folder alone shows that conversations started there do not belong to the project. */
  async mayInclude(cwd: string): Promise<boolean> {
    const { isThere, isInProject } = await this.folder(cwd);
    return isInProject || !isThere;
  }

  async includes({ cwd, path }: Member): Promise<boolean> {
    if (cwd === undefined) return false;
    const { at, isThere, isInProject } = await this.folder(cwd);
    if (isInProject || isThere) return isInProject;
    const commit = await firstCommit(path).catch(() => undefined);
    if (commit === undefined) return false;
    // A folder that was deleted inside another clone of the same repository still belongs to that clone.
    return (await this.#has(this.#root, commit)) && !(await this.#has(await findProjectRoot(at), commit));
  }

  /** Returns the folder's current path, whether it exists, and whether it belongs to the project. */
  folder(cwd: string): Promise<Folder> {
    return memoized(this.#folders, cwd, async () => {
      const at = resolve(relinked(cwd, this.#relinks));
      const [isThere, isInProject] = await Promise.all([isDirectory(at), this.#holds(at)]);
      return { at, isThere, isInProject };
    });
  }

  /** Only folders below the root can have it as their project root, so all others skip the search. */
  async #holds(folder: string): Promise<boolean> {
    return isBelow(folder, this.#root) && (await findProjectRoot(folder)) === this.#root;
  }

  #has(root: string, commit: string): Promise<boolean> {
    return memoized(this.#commits, `${root}\0${commit}`, () => hasCommit(root, commit));
  }
}

function memoized<T>(known: Map<string, Promise<T>>, key: string, find: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? find();
  known.set(key, found);
  return found;
}

/** True if the path is the folder or inside it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
