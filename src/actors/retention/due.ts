import { type ConversationPlaces, isCodexDirectory, namesFile, pinsFile } from "../../config/paths.js";
import { findProjectRoot } from "../../config/project/project.js";
import type { RetentionSettings } from "../../config/settings/effective-settings.js";
import { type ConversationSummary, listConversations } from "../../rollouts/list/list.js";
import { readNames, readPins } from "../../rollouts/list/names-and-pins.js";
import { readRollout } from "../../rollouts/file/read.js";
import type { TrashedConversation } from "../../rollouts/trash/describe-trashed.js";
import { entryKey } from "../../rollouts/trash/trash-files.js";
import type { Due } from "./plan-retention.js";

export type DueConversation = Due & {
  readonly type: "conversation";
  readonly conversation: ConversationSummary;
  readonly why: "old" | "many" | "old and many";
};
export type DueTrash = Due & { readonly type: "trash"; readonly entry: TrashedConversation };

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Returns the conversations that are too old, or too many in their project, the oldest first. Pinned and named ones are
 * kept, and so are files that are not certain to be cody's conversations. Codex's are never touched.
 */
export async function dueConversations(
  places: ConversationPlaces,
  { retentionDays, maxConversationsPerProject }: RetentionSettings,
  now: number,
): Promise<DueConversation[]> {
  const { directory, codexHome } = places;
  if (isCodexDirectory(directory, places)) return [];
  const all = (await listConversations(directory)).filter(isConversationFile);
  const names = await readNames(namesFile(directory, codexHome));
  const pins = await readPins(pinsFile(directory, places));
  const many = new Set(
    maxConversationsPerProject === undefined ? [] : await overProjectLimit(all, maxConversationsPerProject),
  );
  return all
    .flatMap((conversation) => {
      const isOld = retentionDays !== undefined && now - conversation.updatedAt > retentionDays * dayMs;
      if (!isOld) return many.has(conversation) ? [asDue(conversation, "many")] : [];
      return [asDue(conversation, many.has(conversation) ? "old and many" : "old")];
    })
    .filter(({ conversation: { id } }) => !names.has(id) && pins.get(id)?.pinned !== true)
    .toSorted((a, b) => a.updatedAt - b.updatedAt);
}

/** Returns the entries whose time in the trash is over, the oldest first. */
export function dueTrash(entries: readonly TrashedConversation[], now: number): DueTrash[] {
  return entries
    .filter(({ until }) => Date.parse(until) <= now)
    .map((entry) => ({
      type: "trash" as const,
      key: `trash:${entryKey(entry)}`,
      updatedAt: Date.parse(entry.trashedAt),
      entry,
    }))
    .toReversed();
}

/** Reads the rollout itself, which still records a name or pin that an index has lost. Unreadable rollouts are kept. */
export async function reasonToKeep({ id, path }: ConversationSummary): Promise<string | undefined> {
  let [pinned, named] = [false, false];
  try {
    for await (const { line } of readRollout(path, id)) {
      if (line.type !== "cody") continue;
      if (line.payload.type === "named") named = true;
      if (line.payload.type === "pinned") pinned = line.payload.pinned;
    }
  } catch {
    return "it cannot be read";
  }
  return pinned ? "it is pinned" : named ? "it has a name" : undefined;
}

/** Any file with the right extension is listed; only one with a start time and directory is a conversation. */
function isConversationFile({ createdAt, cwd, damaged }: ConversationSummary): boolean {
  return !damaged && createdAt !== undefined && cwd !== undefined;
}

async function overProjectLimit(all: readonly ConversationSummary[], limit: number): Promise<ConversationSummary[]> {
  const folders = [...new Set(all.flatMap(({ cwd }) => cwd ?? []))];
  const roots = new Map(await Promise.all(folders.map(async (cwd) => [cwd, await findProjectRoot(cwd)] as const)));
  const counts = new Map<string, number>();
  // `all` is sorted newest first.
  return all.filter(({ cwd = "" }) => {
    const root = roots.get(cwd) ?? "";
    const count = (counts.get(root) ?? 0) + 1;
    counts.set(root, count);
    return count > limit;
  });
}

function asDue(conversation: ConversationSummary, why: DueConversation["why"]): DueConversation {
  return {
    type: "conversation",
    key: `conversation:${conversation.id}`,
    updatedAt: conversation.updatedAt,
    conversation,
    why,
  };
}
