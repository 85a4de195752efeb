import { lstat, mkdir } from "node:fs/promises";
import { withFileLock } from "../../config/file-lock.js";
import { homePaths } from "../../config/paths.js";
import type { RetentionSettings } from "../../config/settings/retention-settings.js";
import { cleanupResult, type CleanupResult } from "../../messages/cleanup.js";
import { appendAudit } from "./audit.js";
import { type DueConversation, dueConversations, type DueTrash, dueTrash, keptByItself } from "./due.js";
import { isConversation, isTrash, noticeText } from "./notice-text.js";
import { isTimeToRun, planRetention, type RetentionPlan } from "./plan-retention.js";
import { readRetention, writeRetention } from "./retention-state.js";
import { TrashBin, type TrashBinParts } from "./trash-bin.js";

export interface RetentionRun extends TrashBinParts {
  readonly settings: RetentionSettings;
  /** Shows a person what will go; false when nobody can be said to have seen it, and then nothing goes. */
  show(notice: string): Promise<boolean>;
}

export interface RetentionReport {
  /** `not_yet`: it has run today. `not_shown`: nobody saw the notice, so it counts for nothing. */
  readonly status: "ran" | "not_yet" | "not_shown";
  /** The ids that were named for the first time. */
  readonly announced: readonly string[];
  readonly trashed: CleanupResult;
  readonly removed: CleanupResult;
}

const nothing = { announced: [], trashed: cleanupResult([]), removed: cleanupResult([]) };

/**
 * Cleans up by itself, once a day and never silently: what is due is named first, and goes into the trash when it was
 * named days ago and shown again since; what has been in the trash for long goes the same way for good.
 */
export async function runRetention(run: RetentionRun): Promise<RetentionReport> {
  const { home } = run.places;
  if (!isTimeToRun(await readRetention(home), run.now().getTime())) return { status: "not_yet", ...nothing };
  await mkdir(home, { recursive: true, mode: 0o700 });
  return await withFileLock(`${homePaths(home).retention}.lock`, () => locked(run));
}

async function locked(run: RetentionRun): Promise<RetentionReport> {
  const { places, settings } = run;
  const now = run.now().getTime();
  const state = await readRetention(places.home);
  // Somebody else was quicker.
  if (!isTimeToRun(state, now)) return { status: "not_yet", ...nothing };
  await using bin = await TrashBin.open(run);
  const due = [...(await dueConversations(places, settings, now)), ...dueTrash(await bin.list(), now)];
  const plan = planRetention<DueConversation | DueTrash>(state, due, now);
  const text = noticeText(plan, settings, now);
  if (text !== "" && !(await run.show(text))) return { status: "not_shown", ...nothing };
  await writeRetention(places.home, plan.next);
  const announced = plan.announced.map(idOf);
  if (announced.length > 0) {
    await appendAudit(places.home, { at: new Date(now).toISOString(), action: "announced", ids: announced });
  }
  return { status: "ran", announced, ...(await carriedOut(bin, plan)) };
}

async function carriedOut(
  bin: TrashBin,
  { ripe }: RetentionPlan<DueConversation | DueTrash>,
): Promise<Pick<RetentionReport, "trashed" | "removed">> {
  const conversations = new Map(ripe.filter(isConversation).map((due) => [due.conversation.id, due]));
  const trashed = await bin.delete(
    Array.from(conversations.values(), ({ conversation }) => conversation),
    { why: "retention", keepIf: async ({ id }) => await reasonToStay(conversations.get(id)) },
  );
  const entries = ripe.filter(isTrash).map(({ entry }) => entry);
  return { trashed, removed: await bin.remove(entries, "retention") };
}

/** Under its lock: somebody may have gone on in it, pinned or named it a moment ago. */
async function reasonToStay(due: DueConversation | undefined): Promise<string | undefined> {
  if (due === undefined) return "it was not announced";
  const { mtimeMs } = await lstat(due.conversation.path);
  if (Math.floor(mtimeMs) !== due.updatedAt) return "somebody went on in it";
  return await keptByItself(due.conversation);
}

function idOf(due: DueConversation | DueTrash): string {
  return isTrash(due) ? due.entry.id : due.conversation.id;
}
