import { findProjectRoot } from "../config/project.js";
import type { ConversationSummary } from "../rollouts/list.js";
import { listConversationsSync } from "../rollouts/list-sync.js";

/** The saved conversations of one project, newest first. */
export async function projectConversations(directory: string, projectRoot: string): Promise<ConversationSummary[]> {
  const all = listConversationsSync(directory);
  const folders = [...new Set(all.flatMap(({ cwd }) => cwd ?? []))];
  const roots = await Promise.all(folders.map(async (cwd) => [cwd, await findProjectRoot(cwd)] as const));
  const own = new Set(roots.flatMap(([cwd, root]) => (root === projectRoot ? [cwd] : [])));
  return all.filter(({ cwd }) => cwd !== undefined && own.has(cwd));
}

/** The newest one somebody has said something in. */
export async function newestConversation(directory: string, projectRoot: string): Promise<string | undefined> {
  const conversations = await projectConversations(directory, projectRoot);
  return conversations.find(({ empty }) => !empty)?.id;
}
