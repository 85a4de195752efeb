import { TrashBin } from "../../../actors/retention/trash-bin.js";
import { visible } from "../../../base/text/visible.js";
import type { ConversationPlaces } from "../../../config/paths.js";
import type { CleanupResult } from "../../../messages/cleanup.js";
import { labelText } from "../../../rollouts/list/conversation-files.js";
import { exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printResult, currentTime } from "../../context.js";
import { loadPlaces } from "../../conversations/conversation-places.js";
import { parseAge, counted, byteText } from "../../format.js";
import {
  findCandidates,
  cleanConversations,
  cleanedText,
  type CleanRequest,
  dryRunText,
  readSizes,
  excludeBusy,
} from "./clean-conversations.js";

/** A caveat: nobody can promise that no copies remain on a disk. */
const overwritten =
  "The files were overwritten, but the disk, its journal, a snapshot or a backup may still have copies.";

const defaultAge = "7d";

/** Moves old conversations into the trash. `undelete` restores them, so no confirmation is needed. */
export async function cleanCommand(context: ContextOf<"clean">): Promise<number> {
  const { flags } = context;
  if (flags.trash && (flags.olderThan !== undefined || flags.project)) {
    throw usageError("--trash can only be combined with --all, --yes and --dry-run");
  }
  if (flags.yes && !flags.trash)
    throw usageError("--yes is only for --trash; clean-up without --trash can be undone with cody undelete");
  if (flags.all && flags.olderThan !== undefined) throw usageError("--all cannot be combined with --older-than");
  const request = flags.trash ? undefined : await parseCleanRequest(context);
  const places = await loadPlaces(context);
  if (request === undefined) return await emptyTrash(context, places);
  const candidates = await findCandidates(context, places, request);
  const pinnedIds = candidates.pinned.map(({ id }) => id);
  if (flags.dryRun) {
    const free = await excludeBusy(context, places, candidates);
    const wouldDelete = await readSizes(free);
    const text = dryRunText(wouldDelete, free, request).join("\n");
    const inUse = free.busy.map(({ id }) => id);
    await printResult(context, { text, json: { dryRun: true, wouldDelete, kept: pinnedIds, inUse } });
    return 0;
  }
  const result = await cleanConversations(context, places, candidates.going);
  const text = cleanedText(result, candidates, request).join("\n");
  await printResult(context, { text, json: { dryRun: false, ...result, kept: pinnedIds } });
  return result.failures.length > 0 ? exitCodes.failed : 0;
}

async function parseCleanRequest({ flags, projectRoots }: ContextOf<"clean">): Promise<CleanRequest> {
  const olderThanMs = parseAge("--older-than", flags.olderThan ?? defaultAge);
  const project = flags.all || flags.project ? { projectRoot: (await projectRoots()).root } : {};
  return flags.all ? project : { ...project, olderThanMs };
}

/** Permanently removes expired conversations, or all, from the trash; without `--yes` only lists them. */
async function emptyTrash(context: ContextOf<"clean">, places: ConversationPlaces): Promise<number> {
  const { flags, terminal } = context;
  const now = currentTime(context);
  await using bin = await TrashBin.open({ places, env: terminal.env, now: () => new Date(now) });
  const entries = (await bin.list()).filter(({ until }) => flags.all || Date.parse(until) <= now);
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  if (entries.length === 0 || !flags.yes || flags.dryRun) {
    const hint = `To delete them permanently: cody clean --trash${flags.all ? " --all" : ""} --yes`;
    const rows = entries.map((entry) => `  ${labelText(entry)}, deleted ${entry.trashedAt.slice(0, 10)}`);
    const found = `${counted(entries.length, "conversation")} would be permanently deleted (${byteText(bytes)}):`;
    const text = entries.length === 0 ? ["Nothing in the trash to delete."] : [found, ...rows, hint];
    const candidates = entries.map((entry) => ({ sessionId: entry.id, size: entry.bytes }));
    await printResult(context, { text: text.join("\n"), json: { dryRun: true, wouldRemove: candidates } });
    return 0;
  }
  const result = await bin.remove(entries, "asked");
  await printResult(context, { text: removedText(result).join("\n"), json: { dryRun: false, ...result } });
  return result.failures.length > 0 ? exitCodes.failed : 0;
}

function removedText({ deletedCount, totalSizeFreed, successes, failures }: CleanupResult): string[] {
  const removed = `✓ Permanently deleted ${counted(deletedCount, "conversation")} (${byteText(totalSizeFreed)} freed)`;
  return [
    ...(deletedCount === 0 ? [] : [removed]),
    ...(totalSizeFreed === 0 ? [] : [overwritten]),
    ...hardLinkedText(successes.flatMap(({ hardLinked = [] }) => hardLinked)),
    ...failures.map(({ sessionId, error }) => `✗ ${sessionId}: ${error}`),
  ];
}

function hardLinkedText(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const [verb, contents] = names.length === 1 ? ["has", "its contents"] : ["have", "their contents"];
  return [
    `${counted(names.length, "file")} ${verb} another hard link, so ${contents} are still on the disk and were not overwritten:`,
    ...names.map((name) => `  ${visible(name)}`),
  ];
}
