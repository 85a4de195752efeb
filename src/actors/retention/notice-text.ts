import type { RetentionSettings } from "../../config/retention-settings.js";
import type { DueConversation, DueTrash } from "./due.js";
import { noticeDays, type RetentionPlan } from "./plan-retention.js";

const dayMs = 24 * 60 * 60 * 1000;

/** All that a person must know today; empty when there is nothing to say. */
export function noticeText(
  plan: RetentionPlan<DueConversation | DueTrash>,
  settings: RetentionSettings,
  now: number,
): string {
  const from = dayText(now + noticeDays * dayMs);
  const lines = [
    ...announcement(plan.announced.filter(isConversation), from, settings),
    ...removal(plan.announced.filter(isTrash), from),
    ...reminder(plan),
    ...going(plan.ripe.filter(isConversation)),
    ...removing(plan.ripe.filter(isTrash)),
  ];
  return lines.join("\n");
}

function announcement(due: readonly DueConversation[], from: string, settings: RetentionSettings): string[] {
  if (due.length === 0) return [];
  return [
    `From ${from} on ${count(due.length)} will be moved to the trash:`,
    ...due.map(({ conversation: { id, updatedAt }, why }) => {
      const reason =
        why === "old"
          ? `older than ${settings.retentionDays} days`
          : `more than ${settings.maxConversationsPerProject} in its project`;
      return `  ${id}, last changed ${dayText(updatedAt)}, ${reason}`;
    }),
    "To keep one: cody pin <id>. To keep all: cody config set persistence.retentionDays 0",
  ];
}

function removal(due: readonly DueTrash[], from: string): string[] {
  if (due.length === 0) return [];
  return [
    `From ${from} on ${count(due.length)} will be removed from the trash for good:`,
    ...due.map(({ entry: { id, trashedAt } }) => `  ${id}, deleted ${trashedAt.slice(0, 10)}`),
    "To bring one back: cody undelete <id>",
  ];
}

/** Where each was named, with what to do about it, was said before. */
function reminder({ pending, next }: RetentionPlan<DueConversation | DueTrash>): string[] {
  if (pending.length === 0) return [];
  const dates = pending.map(({ key }) => (next.notices[key]?.since ?? 0) + noticeDays * dayMs);
  // All of them: what is not named is not shown, and only what was shown may go.
  const shown = pending.map((one) => (isTrash(one) ? one.entry.id : one.conversation.id)).join(", ");
  return [`As announced, from ${dayText(Math.min(...dates))} on ${count(pending.length)} will go: ${shown}`];
}

function going(ripe: readonly DueConversation[]): string[] {
  if (ripe.length === 0) return [];
  const ids = ripe.map(({ conversation: { id } }) => id).join(", ");
  return [
    `As announced, ${count(ripe.length)} will now be in the trash: ${ids}. To bring one back: cody undelete <id>`,
  ];
}

function removing(ripe: readonly DueTrash[]): string[] {
  if (ripe.length === 0) return [];
  const ids = ripe.map(({ entry: { id } }) => id).join(", ");
  return [`As announced, ${count(ripe.length)} will now be removed from the trash for good: ${ids}`];
}

export function isConversation(due: DueConversation | DueTrash): due is DueConversation {
  return due.type === "conversation";
}

export function isTrash(due: DueConversation | DueTrash): due is DueTrash {
  return due.type === "trash";
}

function count(number: number): string {
  return number === 1 ? "1 conversation" : `${number} conversations`;
}

function dayText(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
