import { lstat, mkdir } from "node:fs/promises";
import { counted } from "../../base/text/counted.js";
import { withFileLock } from "../../config/file-lock.js";
import { homePaths } from "../../config/paths.js";
import type { RetentionSettings } from "../../config/settings/effective-settings.js";
import { cleanupResult, type CleanupResult } from "../../messages/cleanup.js";
import { labelText } from "../../rollouts/list/conversation-files.js";
import { appendAudit, TrashBin, type TrashBinParts } from "./trash-bin.js";
import { type DueConversation, dueConversations, type DueTrash, dueTrash, reasonToKeep } from "./due.js";
import {
  isTimeToRun,
  planRetention,
  type RetentionPlan,
  noticeDays,
  readRetention,
  writeRetention,
} from "./plan-retention.js";

const dayMs = 24 * 60 * 60 * 1000;

export interface RetentionRun extends TrashBinParts {
  readonly settings: RetentionSettings;
  /**
   * Shows the user what will be deleted. When it returns false, the notice may not have been seen and nothing is
   * deleted.
   */
  show(notice: string): Promise<boolean>;
}

export interface RetentionReport {
  /** `not_yet`: it has run today. `not_shown`: the notice was not seen, so it does not count. */
  readonly status: "ran" | "not_yet" | "not_shown";
  /** The ids that were announced for the first time. */
  readonly announced: readonly string[];
  readonly trashed: CleanupResult;
  readonly removed: CleanupResult;
}

const nothing = { announced: [], trashed: cleanupResult([]), removed: cleanupResult([]) };

/**
 * Cleans up automatically, once a day and never silently: due conversations are announced first, and are moved to the
 * trash after they were announced days ago and shown again since. Old trash is removed for good in the same way.
 */
export async function runRetention(run: RetentionRun): Promise<RetentionReport> {
  const { home } = run.places;
  if (!isTimeToRun(await readRetention(home), run.now().getTime())) return { status: "not_yet", ...nothing };
  await mkdir(home, { recursive: true, mode: 0o700 });
  return await withFileLock(`${homePaths(home).retention}.lock`, () => runLocked(run));
}

async function runLocked(run: RetentionRun): Promise<RetentionReport> {
  const { places, settings } = run;
  const now = run.now().getTime();
  const state = await readRetention(places.home);
  // Another process was quicker.
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
  return { status: "ran", announced, ...(await deleteExpired(bin, plan)) };
}

async function deleteExpired(
  bin: TrashBin,
  { ripe }: RetentionPlan<DueConversation | DueTrash>,
): Promise<Pick<RetentionReport, "trashed" | "removed">> {
  const conversations = new Map(ripe.filter(isConversation).map((due) => [due.conversation.id, due]));
  const trashed = await bin.delete(
    Array.from(conversations.values(), ({ conversation }) => conversation),
    { why: "retention", keepIf: async ({ id }) => await keepReason(conversations.get(id)) },
  );
  const entries = ripe.filter(isTrash).map(({ entry }) => entry);
  return { trashed, removed: await bin.remove(entries, "retention") };
}

/** Checked under the conversation's lock: it may have been continued, pinned or named a moment ago. */
async function keepReason(due: DueConversation | undefined): Promise<string | undefined> {
  if (due === undefined) return "no warning was shown for it";
  const { mtimeMs } = await lstat(due.conversation.path);
  if (Math.floor(mtimeMs) !== due.updatedAt) return "it was changed meanwhile";
  return await reasonToKeep(due.conversation);
}

function idOf(due: DueConversation | DueTrash): string {
  return isTrash(due) ? due.entry.id : due.conversation.id;
}

/** The notice for today; empty when there is nothing to report. */
function noticeText(
  { announced, pending, ripe, next }: RetentionPlan<DueConversation | DueTrash>,
  settings: RetentionSettings,
  now: number,
): string {
  const from = dayText(now + noticeDays * dayMs);
  // The earliest of several days.
  const dayOf = (due: readonly { key: string }[]): string =>
    dayText(Math.min(...due.map(({ key }) => next.notices[key]?.since ?? 0)) + noticeDays * dayMs);
  const [known, knownTrash] = [pending.filter(isConversation), pending.filter(isTrash)];
  const lines = [
    ...trashNotice(announced.filter(isConversation), `From ${from}`, settings),
    ...removalNotice(announced.filter(isTrash), `From ${from}`),
    // All of them are listed again, because only what was shown may be deleted.
    ...(known.length === 0 ? [] : trashNotice(known, `As announced, from ${dayOf(known)}`, settings)),
    ...(knownTrash.length === 0 ? [] : removalNotice(knownTrash, `As announced, from ${dayOf(knownTrash)}`)),
    ...trashedNotice(ripe.filter(isConversation)),
    ...removedNotice(ripe.filter(isTrash)),
  ];
  return lines.join("\n");
}

function trashNotice(due: readonly DueConversation[], from: string, settings: RetentionSettings): string[] {
  if (due.length === 0) return [];
  return [
    `${from} on ${counted(due.length, "conversation")} will be moved to the trash:`,
    ...due.map(({ conversation, updatedAt, why }) => {
      return `  ${labelText(conversation)}, last changed ${dayText(updatedAt)}, ${reasonText(why, settings)}`;
    }),
    `To keep one: cody pin <id>. To keep all: ${adviceText(due)}`,
  ];
}

function reasonText(why: DueConversation["why"], settings: RetentionSettings): string {
  const old = `older than ${counted(settings.retentionDays ?? 0, "day")}`;
  const many = `more than ${settings.maxConversationsPerProject} in its project`;
  return { old, many, "old and many": `${old}, and ${many}` }[why];
}

/** Suggests only the settings that cause one of these deletions. */
function adviceText(due: readonly DueConversation[]): string {
  const reasons = new Set(due.map(({ why }) => why));
  const isBoth = reasons.has("old and many");
  const settings = [
    ...(isBoth || reasons.has("old") ? ["retentionDays"] : []),
    ...(isBoth || reasons.has("many") ? ["maxConversationsPerProject"] : []),
  ];
  return settings.map((setting) => `cody config set persistence.${setting} 0`).join(" and ");
}

function removalNotice(due: readonly DueTrash[], from: string): string[] {
  if (due.length === 0) return [];
  return [
    `${from} on ${counted(due.length, "conversation")} will be permanently deleted from the trash:`,
    ...due.map(({ entry }) => `  ${labelText(entry)}, deleted ${entry.trashedAt.slice(0, 10)}`),
    "To restore one: cody undelete <id>",
  ];
}

function trashedNotice(expired: readonly DueConversation[]): string[] {
  if (expired.length === 0) return [];
  const names = expired.map(({ conversation }) => labelText(conversation)).join(", ");
  return [`As announced, ${countNow(expired.length)} in the trash: ${names}. To restore one: cody undelete <id>`];
}

function removedNotice(expired: readonly DueTrash[]): string[] {
  if (expired.length === 0) return [];
  const names = expired.map(({ entry }) => labelText(entry)).join(", ");
  return [`As announced, ${countNow(expired.length)} permanently deleted from the trash: ${names}`];
}

function isConversation(due: DueConversation | DueTrash): due is DueConversation {
  return due.type === "conversation";
}

function isTrash(due: DueConversation | DueTrash): due is DueTrash {
  return due.type === "trash";
}

function countNow(number: number): string {
  return `${counted(number, "conversation")} ${number === 1 ? "is" : "are"} now`;
}

function dayText(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
