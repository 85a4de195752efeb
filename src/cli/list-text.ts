import type { Flags } from "./flags.js";
import { cursorBehind, type OrderName } from "./list-order.js";
import { localTime } from "./local-time.js";
import type { SavedConversation } from "./named-conversations.js";
import { quotedCommand } from "../messages/quoted-command.js";

export interface PageOptions {
  readonly limit: number | undefined;
  readonly order: OrderName;
  /** Those it was asked for with. */
  readonly flags: Partial<Flags>;
}

/** A page of a list as it is printed. One conversation more than fits tells that the list goes on. */
export function pageText(found: readonly SavedConversation[], { limit, order, flags }: PageOptions): string {
  const page = found.slice(0, limit);
  const last = found.length > page.length ? page.at(-1) : undefined;
  const next = last === undefined ? undefined : cursorBehind(last, order);
  return flags.json === true ? listJson(page, next) : listText(page, nextCommand(flags, next));
}

/** A list for programs is an array; where it goes on stands in the last one, if it does. */
function listJson(page: readonly SavedConversation[], next: string | undefined): string {
  const last = page.length - 1;
  return JSON.stringify(
    page.map((conversation, index) =>
      index === last && next !== undefined ? { ...conversation, nextCursor: next } : conversation,
    ),
  );
}

function nextCommand(flags: PageOptions["flags"], next: string | undefined): string | undefined {
  if (next === undefined) return undefined;
  const { limit, project = false, all = false, codex = false, home, conversationDir, layout } = flags;
  const valued = Object.entries({ limit, home, "conversation-dir": conversationDir, layout, cursor: next });
  return quotedCommand([
    "cody",
    "list",
    ...Object.entries({ project, all, codex }).flatMap(([flag, isGiven]) => (isGiven ? [`--${flag}`] : [])),
    ...valued.flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, value])),
  ]);
}

function listText(conversations: readonly SavedConversation[], next: string | undefined): string {
  if (conversations.length === 0) return "No saved conversations.\nCreate one: cody new";
  const entries = conversations.map(entryText);
  const total = `Total: ${conversations.length} conversation(s)`;
  return ["Saved Conversations:", "", ...entries, total, ...(next === undefined ? [] : [`More: ${next}`])].join("\n");
}

function entryText({ id, name, pinned, provider, model, updatedAt, empty, damaged }: SavedConversation): string {
  const mark = (damaged ? " (damaged)" : empty ? " (empty)" : "") + (pinned ? " (pinned)" : "");
  const labels = `${provider ?? "unknown"} (${model ?? "unknown"})`;
  const called = name === undefined ? "" : `    Name: ${name}\n`;
  return `  ${id}${mark}\n${called}    Provider: ${labels}\n    Updated: ${localTime(updatedAt)}\n`;
}
