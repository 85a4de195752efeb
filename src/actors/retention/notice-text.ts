import type { RetentionSettings } from "../../config/settings/retention-settings.js";
import { counted } from "../../base/text/counted.js";
import { shownConversation } from "../../rollouts/list/shown-conversation.js";
import type { DueConversation, DueTrash } from "./due.js";
import { noticeDays, type RetentionPlan } from "./plan-retention.js";

const dayMs = 24 * 60 * 60 * 1000;

/** All that a person must know today; empty when there is nothing to say. */
export function noticeText(
  { announced, pending, ripe, next }: RetentionPlan<DueConversation | DueTrash>,
  settings: RetentionSettings,
  now: number,
): string {
  const from = dayText(now + noticeDays * dayMs);
  // Of several days the first.
  const dayOf = (due: readonly { key: string }[]): string =>
    dayText(Math.min(...due.map(({ key }) => next.notices[key]?.since ?? 0)) + noticeDays * dayMs);
  const [known, knownTrash] = [pending.filter(isConversation), pending.filter(isTrash)];
  const lines = [
    ...moving(announced.filter(isConversation), `From ${from}`, settings),
    ...removal(announced.filter(isTrash), `From ${from}`),
    // All of them are named again: what is not named is not shown, and only what was shown may go.
    ...(known.length === 0 ? [] : moving(known, `As announced, from ${dayOf(known)}`, settings)),
    ...(knownTrash.length === 0 ? [] : removal(knownTrash, `As announced, from ${dayOf(knownTrash)}`)),
    ...gone(ripe.filter(isConversation)),
    ...removed(ripe.filter(isTrash)),
  ];
  return lines.join("\n");
}

function moving(due: readonly DueConversation[], from: string, settings: RetentionSettings): string[] {
  if (due.length === 0) return [];
  return [
    `${from} on ${counted(due.length, "conversation")} will be moved to the trash:`,
    ...due.map(({ conversation, updatedAt, why }) => {
      return `  ${shownConversation(conversation)}, last changed ${dayText(updatedAt)}, ${reasonText(why, settings)}`;
    }),
    `To keep one: cody pin <id>. To keep all: ${adviceText(due)}`,
  ];
}

function reasonText(why: DueConversation["why"], settings: RetentionSettings): string {
  const old = `older than ${counted(settings.retentionDays ?? 0, "day")}`;
  const many = `more than ${settings.maxConversationsPerProject} in its project`;
  return { old, many, "old and many": `${old}, and ${many}` }[why];
}

/** Only what helps: each setting by which one of these goes. */
function adviceText(due: readonly DueConversation[]): string {
  const reasons = new Set(due.map(({ why }) => why));
  const isBoth = reasons.has("old and many");
  const settings = [
    ...(isBoth || reasons.has("old") ? ["retentionDays"] : []),
    ...(isBoth || reasons.has("many") ? ["maxConversationsPerProject"] : []),
  ];
  return settings.map((setting) => `cody config set persistence.${setting} 0`).join(" and ");
}

function removal(due: readonly DueTrash[], from: string): string[] {
  if (due.length === 0) return [];
  return [
    `${from} on ${counted(due.length, "conversation")} will be removed from the trash for good:`,
    ...due.map(({ entry }) => `  ${shownConversation(entry)}, deleted ${entry.trashedAt.slice(0, 10)}`),
    "To bring one back: cody undelete <id>",
  ];
}

function gone(ripe: readonly DueConversation[]): string[] {
  if (ripe.length === 0) return [];
  const shown = ripe.map(({ conversation }) => shownConversation(conversation)).join(", ");
  return [`As announced, ${countNow(ripe.length)} in the trash: ${shown}. To bring one back: cody undelete <id>`];
}

function removed(ripe: readonly DueTrash[]): string[] {
  if (ripe.length === 0) return [];
  const shown = ripe.map(({ entry }) => shownConversation(entry)).join(", ");
  return [`As announced, ${countNow(ripe.length)} removed from the trash for good: ${shown}`];
}

export function isConversation(due: DueConversation | DueTrash): due is DueConversation {
  return due.type === "conversation";
}

export function isTrash(due: DueConversation | DueTrash): due is DueTrash {
  return due.type === "trash";
}

function countNow(number: number): string {
  return `${counted(number, "conversation")} ${number === 1 ? "is" : "are"} now`;
}

function dayText(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
