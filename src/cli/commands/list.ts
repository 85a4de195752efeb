import { findProjectRoot } from "../../config/project.js";
import { type CommandContext, printLine } from "../context.js";
import { placesOf } from "../conversation-directory.js";
import { limitOf } from "../limit-flag.js";
import { cursorBehind, type ListOrder, ordered, orderOf } from "../list-order.js";
import { localTime } from "../local-time.js";
import {
  conversationsEverywhere,
  ofProject,
  type SavedConversation,
  savedConversations,
} from "../project-conversations.js";
import { quotedCommand } from "../../messages/quoted-command.js";

export async function listCommand(context: CommandContext): Promise<number> {
  const { flags } = context;
  const limit = limitOf(flags.limit);
  const order = orderOf(flags);
  // One more than asked for tells whether the list goes on.
  const found = await wanted(context, order, limit === undefined ? undefined : limit + 1);
  const page = found.slice(0, limit);
  const last = found.length > page.length ? page.at(-1) : undefined;
  const next = last === undefined ? undefined : cursorBehind(last, order.name);
  await printLine(context, flags.json ? listJson(page, next) : listText(page, nextCommand(context, next)));
  return 0;
}

async function wanted(
  context: CommandContext,
  order: ListOrder,
  limit: number | undefined,
): Promise<readonly SavedConversation[]> {
  const { flags, terminal } = context;
  const places = await placesOf(context);
  // The one order files are found in: no more of them is looked at than wanted.
  if (order.name === "updated" && !flags.all && !flags.project) {
    const { after } = order;
    const position = after === undefined ? {} : { after: { updatedAt: Number(after.key), id: after.id } };
    return savedConversations(context, places, { ...position, ...(limit === undefined ? {} : { limit }) });
  }
  const all = flags.all ? conversationsEverywhere(context, places) : savedConversations(context, places);
  const own = flags.project ? await ofProject(context, all, await findProjectRoot(terminal.cwd)) : all;
  return ordered(own, order).slice(0, limit);
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

function nextCommand({ flags }: CommandContext, next: string | undefined): string | undefined {
  if (next === undefined) return undefined;
  const { limit, project, all, codex, home, conversationDir, layout } = flags;
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

function entryText({ id, name, provider, model, updatedAt, empty, damaged }: SavedConversation): string {
  const mark = damaged ? " (damaged)" : empty ? " (empty)" : "";
  const labels = `${provider ?? "unknown"} (${model ?? "unknown"})`;
  const called = name === undefined ? "" : `    Name: ${name}\n`;
  return `  ${id}${mark}\n${called}    Provider: ${labels}\n    Updated: ${localTime(updatedAt)}\n`;
}
