import { TrashBin, trashDays } from "../../actors/retention/trash-bin.js";
import { type ConversationPlaces, isCodexs } from "../../config/places.js";
import { type CleanupResult, cleanupResult } from "../../messages/cleanup.js";
import { conversationFiles } from "../../rollouts/conversation-files.js";
import { ageText, counted } from "../age.js";
import { byteText } from "../byte-text.js";
import { CommandError, exitCodes } from "../command-error.js";
import type { CommandContext } from "../context.js";
import { nowOf } from "../now.js";
import type { SavedConversation } from "../named-conversations.js";
import { projectConversations, savedConversations } from "../project-conversations.js";

/** Which conversations somebody wants to be rid of. */
export interface CleanWish {
  /** Only those of this project. */
  readonly projectRoot?: string;
  /** Only those nothing was said in for so long. */
  readonly olderThanMs?: number;
  /** Stays whatever was asked for: it is the one somebody is in. */
  readonly current?: string;
}

export interface Candidates {
  readonly going: readonly SavedConversation[];
  readonly pinned: readonly SavedConversation[];
}

/** What would go, and what stays only because it is pinned. */
export async function candidatesOf(
  context: CommandContext,
  places: ConversationPlaces,
  { projectRoot, olderThanMs = 0, current }: CleanWish,
): Promise<Candidates> {
  if (isCodexs(places.directory, places)) {
    throw new CommandError("Conversations are in Codex's directory: only Codex deletes there", exitCodes.failed);
  }
  const all =
    projectRoot === undefined
      ? savedConversations(context, places)
      : await projectConversations(context, places, projectRoot);
  const now = nowOf(context);
  const wanted = all.filter(
    ({ id, updatedAt }) => id !== current && (olderThanMs === 0 || now - updatedAt >= olderThanMs),
  );
  return {
    going: wanted.filter(({ pinned }) => pinned !== true),
    pinned: wanted.filter(({ pinned }) => pinned === true),
  };
}

/** Moves them into the trash. */
export async function cleaned(
  context: CommandContext,
  places: ConversationPlaces,
  { going }: Candidates,
): Promise<CleanupResult> {
  if (going.length === 0) return cleanupResult([]);
  const now = (): Date => new Date(nowOf(context));
  await using bin = await TrashBin.open({ places, env: context.terminal.env, now });
  return await bin.delete(going, { why: "asked" });
}

/** How much the candidates take; what cannot be looked at counts as nothing. */
export async function sizesOf({ going }: Candidates): Promise<{ sessionId: string; size: number }[]> {
  return await Promise.all(
    going.map(async ({ id, path }) => {
      const files = await conversationFiles(path).catch(() => []);
      return { sessionId: id, size: files.reduce((sum, { bytes }) => sum + bytes, 0) };
    }),
  );
}

export function cleanedText(result: CleanupResult, { pinned }: Candidates, { olderThanMs }: CleanWish): string[] {
  const { successes, failures, deletedCount, totalSizeFreed } = result;
  if (successes.length + failures.length === 0) return [nothingText(olderThanMs), ...pinnedText(pinned)];
  const moved = `Moved ${counted(deletedCount, "conversation")} to the trash (${byteText(totalSizeFreed)})`;
  return [
    ...(deletedCount === 0 ? [] : [`✓ ${moved}`, ...successes.map(({ sessionId }) => `  ${sessionId}`)]),
    ...(failures.length === 0 ? [] : [`✗ ${counted(failures.length, "conversation")} could not be moved:`]),
    ...failures.map(({ sessionId, error }) => `  ${sessionId}: ${error}`),
    ...pinnedText(pinned),
    ...(deletedCount === 0 ? [] : [`They can be brought back for ${trashDays} days: cody undelete <id>`]),
  ];
}

export function dryRunText(
  sizes: readonly { sessionId: string; size: number }[],
  candidates: Candidates,
  wish: CleanWish,
): string[] {
  if (sizes.length === 0) return [nothingText(wish.olderThanMs), ...pinnedText(candidates.pinned)];
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  const updated = new Map(candidates.going.map(({ id, updatedAt }) => [id, updatedAt]));
  return [
    `${counted(sizes.length, "conversation")} would be moved to the trash (${byteText(total)}):`,
    ...sizes.map(({ sessionId, size }) => {
      const day = new Date(updated.get(sessionId) ?? 0).toISOString().slice(0, 10);
      return `  ${sessionId}, last changed ${day}, ${byteText(size)}`;
    }),
    ...pinnedText(candidates.pinned),
    "Nothing was changed.",
  ];
}

function nothingText(olderThanMs: number | undefined): string {
  return olderThanMs === undefined
    ? "No conversations to clean up."
    : `No conversations older than ${ageText(olderThanMs)}.`;
}

function pinnedText(pinned: readonly SavedConversation[]): string[] {
  return pinned.length === 0 ? [] : [`Kept, because pinned: ${pinned.map(({ id }) => id).join(", ")}`];
}
