import type { CommandFlags } from "../../arguments/command-table.js";
import { cursorAfter, type OrderName } from "./list-order.js";
import { localTime } from "../../format/local-time.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import { visible } from "../../../base/text/visible.js";
import { quotedCommand } from "../../../base/text/quoted-command.js";

export interface PageOptions {
  readonly limit: number | undefined;
  /** The number of conversations on all pages together. */
  readonly total: number;
  readonly order: OrderName;
  /** The flags of the command. */
  readonly flags: Partial<CommandFlags<"list">>;
}

/** Prints one page of a list. `found` has one conversation more than `limit` if the list continues. */
export function pageText(found: readonly SavedConversation[], { limit, total, order, flags }: PageOptions): string {
  const page = found.slice(0, limit);
  const last = found.length > page.length ? page.at(-1) : undefined;
  const next = last === undefined ? undefined : cursorAfter(last, order);
  return flags.json === true ? listJson(page, total, next) : listText(page, total, nextCommand(flags, next));
}

/** A JSON list is an array. On an incomplete page, the last object also has the total and the next cursor. */
function listJson(page: readonly SavedConversation[], total: number, next: string | undefined): string {
  const last = page.at(-1);
  if (last === undefined || total === page.length) return JSON.stringify(page);
  return JSON.stringify([
    ...page.slice(0, -1),
    { ...last, total, ...(next === undefined ? {} : { nextCursor: next }) },
  ]);
}

function nextCommand(flags: PageOptions["flags"], next: string | undefined): string | undefined {
  if (next === undefined) return undefined;
  const { limit, project = false, all = false, codex = false, home, conversationDir, layout } = flags;
  const valued = Object.entries({ limit, home, "conversation-dir": conversationDir, layout, cursor: next });
  return quotedCommand([
    "cody",
    "list",
    ...Object.entries({ project, all, codex }).flatMap(([flag, isGiven]) => (isGiven ? [`--${flag}`] : [])),
    ...valued.flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, String(value)])),
  ]);
}

function listText(conversations: readonly SavedConversation[], total: number, next: string | undefined): string {
  if (total === 0) return "No saved conversations.\nCreate one: cody new";
  const entries = conversations.map(entryText);
  const showing = total === entries.length ? "" : `, showing ${entries.length}`;
  const count = `Total: ${total} conversation(s)${showing}`;
  return ["Saved Conversations:", "", ...entries, count, ...(next === undefined ? [] : [`More: ${next}`])].join("\n");
}

function entryText({ id, name, title, pinned, provider, model, updatedAt, empty, damaged }: SavedConversation): string {
  const mark = (damaged ? " (damaged)" : empty ? " (empty)" : "") + (pinned ? " (pinned)" : "");
  const labels = `${provider ?? "unknown"} (${model ?? "unknown"})`;
  const called = name === undefined ? "" : `    Name: ${name}\n`;
  const about = title === undefined ? "" : `    Title: ${visible(title)}\n`;
  return `  ${id}${mark}\n${called}${about}    Provider: ${labels}\n    Updated: ${localTime(updatedAt)}\n`;
}
