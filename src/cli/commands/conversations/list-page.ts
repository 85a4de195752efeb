import { quotedCommand } from "../../../base/text/quoted-command.js";
import { visible } from "../../../base/text/visible.js";
import { type Cursor, cursorText, parsedCursor } from "../../../rollouts/list/cached-list.js";
import type { CommandFlags } from "../../arguments/command-table.js";
import type { FlagValues } from "../../arguments/flag-table.js";
import { usageError } from "../../command-error.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import { localTime } from "../../format.js";

interface Order {
  /** The sort key; null if the conversation has none, which sorts last. */
  readonly key: (conversation: SavedConversation) => number | string | null;
  readonly type: "number" | "string";
  readonly direction: "up" | "down";
}

const orders = {
  updated: { key: ({ updatedAt }) => updatedAt, type: "number", direction: "down" },
  created: { key: ({ createdAt }) => createdAt ?? null, type: "number", direction: "down" },
  name: { key: ({ name }) => name ?? null, type: "string", direction: "up" },
  size: { key: ({ size }) => size, type: "number", direction: "down" },
} satisfies Record<string, Order>;

type OrderName = keyof typeof orders;
export const orderNames = Object.keys(orders) as readonly OrderName[];

/** The order of a list, and the position after which it starts. */
export interface ListOrder {
  readonly name: OrderName;
  readonly after: Cursor | undefined;
}

/** A cursor contains the order of its list. */
export function parseOrder({ sort, cursor }: FlagValues<"sort" | "cursor">): ListOrder {
  if (sort !== undefined && !isOrder(sort)) {
    throw usageError(`--sort: expected one of ${orderNames.join(", ")}, not '${sort}'`);
  }
  if (cursor === undefined) return { name: sort ?? "updated", after: undefined };
  const after = parsedCursor(cursor);
  const isOurs =
    after !== undefined &&
    isOrder(after.order) &&
    (after.key === null || typeof after.key === orders[after.order].type);
  if (!isOurs) {
    throw usageError(`--cursor: invalid cursor '${cursor}'. Use one printed by cody list`);
  }
  if (sort !== undefined && sort !== after.order) {
    throw usageError(`--cursor: this cursor is from a list with --sort ${after.order}, not --sort ${sort}`);
  }
  return { name: after.order, after };
}

/** The conversations after the cursor, sorted. */
export function sortConversations(all: readonly SavedConversation[], { name, after }: ListOrder): SavedConversation[] {
  const order: Order = orders[name];
  const placed = all.map((conversation) => ({
    conversation,
    place: { key: order.key(conversation), id: conversation.id },
  }));
  return placed
    .filter(({ place }) => after === undefined || compared(order, after, place) < 0)
    .toSorted((a, b) => compared(order, a.place, b.place))
    .map(({ conversation }) => conversation);
}

/** The cursor for the list that continues after this conversation. */
function cursorAfter(conversation: SavedConversation, order: OrderName): string {
  return cursorText({ order, key: orders[order].key(conversation), id: conversation.id });
}

type Place = Pick<Cursor, "key" | "id">;

function compared({ direction }: Order, a: Place, b: Place): number {
  if ((a.key === null) !== (b.key === null)) return a.key === null ? 1 : -1;
  const sign = direction === "up" ? 1 : -1;
  if (a.key !== null && b.key !== null && a.key !== b.key) return a.key < b.key ? -sign : sign;
  // With equal keys, the newer conversation comes first.
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1;
}

function isOrder(text: string): text is OrderName {
  return Object.hasOwn(orders, text);
}

interface PageOptions {
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
