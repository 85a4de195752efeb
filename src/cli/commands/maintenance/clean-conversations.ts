import { TrashBin, trashDays } from "../../../actors/retention/trash-bin.js";
import { type ConversationPlaces, isCodexDirectory } from "../../../config/paths.js";
import { type CleanupResult, cleanupResult } from "../../../messages/cleanup.js";
import { conversationFiles, type ConversationLabel, labelText } from "../../../rollouts/list/conversation-files.js";
import type { RolloutName } from "../../../rollouts/list/layout-files.js";
import { ageText, counted, byteText } from "../../format.js";
import { CommandError, exitCodes } from "../../command-error.js";
import { type CommandContext, currentTime } from "../../context.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import { projectConversations, savedConversations } from "../../conversations/project-conversations.js";

/** Selects the conversations to clean up. */
export interface CleanRequest {
  /** Only those of this project. */
  readonly projectRoot?: string;
  /** Only those not updated for this long. */
  readonly olderThanMs?: number;
  /** The current conversation, which is always kept. */
  readonly current?: string;
}

interface Candidates {
  readonly going: readonly SavedConversation[];
  readonly pinned: readonly SavedConversation[];
}

/** The conversations to move, and those kept only because they are pinned. */
export async function findCandidates(
  context: CommandContext,
  places: ConversationPlaces,
  { projectRoot, olderThanMs = 0, current }: CleanRequest,
): Promise<Candidates> {
  if (isCodexDirectory(places.directory, places)) {
    throw new CommandError(
      "cody does not delete conversations in Codex's directory; use Codex for that",
      exitCodes.failed,
    );
  }
  const own = { ...places, alsoListed: [] };
  const all =
    projectRoot === undefined
      ? savedConversations(context, own)
      : await projectConversations(context, own, projectRoot);
  const now = currentTime(context);
  const wanted = all.filter(
    ({ id, updatedAt }) => id !== current && (olderThanMs === 0 || now - updatedAt >= olderThanMs),
  );
  return {
    going: wanted.filter(({ pinned }) => pinned !== true),
    pinned: wanted.filter(({ pinned }) => pinned === true),
  };
}

/** Moves the conversations into the trash. */
export async function cleanConversations(
  context: CommandContext,
  places: ConversationPlaces,
  rollouts: readonly RolloutName[],
): Promise<CleanupResult> {
  if (rollouts.length === 0) return cleanupResult([]);
  const now = (): Date => new Date(currentTime(context));
  await using bin = await TrashBin.open({ places, env: context.terminal.env, now });
  return await bin.delete(rollouts, { why: "asked" });
}

/** Separates the conversations that are in use, which cannot be deleted. */
export async function excludeBusy(
  context: CommandContext,
  places: ConversationPlaces,
  candidates: Candidates,
): Promise<Candidates & { readonly busy: readonly SavedConversation[] }> {
  const { going } = candidates;
  if (going.length === 0) return { ...candidates, busy: [] };
  await using bin = await TrashBin.open({
    places,
    env: context.terminal.env,
    now: () => new Date(currentTime(context)),
  });
  const holders = await Promise.all(going.map((conversation) => bin.holder(conversation)));
  const isBusy = (index: number): boolean => holders[index] !== undefined;
  return {
    ...candidates,
    going: going.filter((_, index) => !isBusy(index)),
    busy: going.filter((_, index) => isBusy(index)),
  };
}

/** The sizes of the candidates; unreadable files count as zero. */
export async function readSizes({ going }: Candidates): Promise<{ sessionId: string; size: number }[]> {
  return await Promise.all(
    going.map(async ({ id, path }) => {
      const files = await conversationFiles(path).catch(() => []);
      return { sessionId: id, size: files.reduce((sum, { bytes }) => sum + bytes, 0) };
    }),
  );
}

export function cleanedText(
  result: CleanupResult,
  { going, pinned }: { readonly going: readonly ConversationLabel[]; readonly pinned: readonly SavedConversation[] },
  { olderThanMs }: CleanRequest,
): string[] {
  const { successes, failures, deletedCount, totalSize } = result;
  if (successes.length + failures.length === 0) return [nothingText(olderThanMs), ...pinnedText(pinned)];
  const labels = new Map(going.map((conversation) => [conversation.id, labelText(conversation)]));
  const labelOf = (id: string): string => labels.get(id) ?? id;
  const moved = `Moved ${counted(deletedCount, "conversation")} to the trash (${byteText(totalSize)})`;
  return [
    ...(deletedCount === 0 ? [] : [`✓ ${moved}`, ...successes.map(({ sessionId }) => `  ${labelOf(sessionId)}`)]),
    ...(failures.length === 0 ? [] : [`✗ Cannot move ${counted(failures.length, "conversation")}:`]),
    ...failures.map(({ sessionId, error }) => `  ${labelOf(sessionId)}: ${error}`),
    ...pinnedText(pinned),
    ...undeleteHint(successes.map(({ sessionId }) => sessionId)),
  ];
}

function undeleteHint(ids: readonly string[]): string[] {
  const [id] = ids;
  if (id === undefined) return [];
  const [pronoun, which] = ids.length === 1 ? ["it", id] : ["one", "<id>"];
  return [`To restore ${pronoun} within ${trashDays} days: cody undelete ${which}`];
}

export function dryRunText(
  sizes: readonly { sessionId: string; size: number }[],
  { going, pinned, busy }: Candidates & { readonly busy: readonly SavedConversation[] },
  request: CleanRequest,
): string[] {
  const keptLines = [...keptText("in use", busy), ...pinnedText(pinned)];
  if (sizes.length === 0) return [...(busy.length === 0 ? [nothingText(request.olderThanMs)] : []), ...keptLines];
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  const sizeOf = new Map(sizes.map(({ sessionId, size }) => [sessionId, size]));
  return [
    `${counted(sizes.length, "conversation")} would be moved to the trash (${byteText(total)}):`,
    ...going.map((conversation) => {
      const day = new Date(conversation.updatedAt).toISOString().slice(0, 10);
      const size = byteText(sizeOf.get(conversation.id) ?? 0);
      return `  ${labelText(conversation)}, last changed ${day}, ${size}`;
    }),
    ...keptLines,
    "Nothing was changed.",
  ];
}

function nothingText(olderThanMs: number | undefined): string {
  return olderThanMs === undefined
    ? "No conversations to clean up."
    : `No conversations older than ${ageText(olderThanMs)}.`;
}

function pinnedText(pinned: readonly SavedConversation[]): string[] {
  return keptText("pinned", pinned);
}

function keptText(why: string, kept: readonly SavedConversation[]): string[] {
  return kept.length === 0 ? [] : [`Kept (${why}): ${kept.map(labelText).join(", ")}`];
}
