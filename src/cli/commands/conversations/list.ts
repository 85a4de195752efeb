import { type ContextOf, printLine } from "../../context.js";
import { loadPlaces } from "../../conversations/conversation-places.js";
import { type ListOrder, sortConversations, parseOrder, pageText } from "./list-page.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import {
  conversationsEverywhere,
  filterByProject,
  savedConversations,
  savedPage,
} from "../../conversations/project-conversations.js";

export async function listCommand(context: ContextOf<"list">): Promise<number> {
  const { flags } = context;
  const { limit } = flags;
  const order = parseOrder(flags);
  // Request one more than the limit, to know whether the list continues.
  const { conversations, total } = await listedConversations(
    context,
    order,
    limit === undefined ? undefined : limit + 1,
  );
  await printLine(context, pageText(conversations, { limit, total, order: order.name, flags }));
  return 0;
}

async function listedConversations(
  context: ContextOf<"list">,
  order: ListOrder,
  limit: number | undefined,
): Promise<{ readonly conversations: readonly SavedConversation[]; readonly total: number }> {
  const { flags } = context;
  const places = await loadPlaces(context);
  // Files are found in this order, so no more of them are read than needed.
  if (order.name === "updated" && !flags.all && !flags.project) {
    const { after } = order;
    const position = after === undefined ? {} : { after: { updatedAt: Number(after.key), id: after.id } };
    return savedPage(context, places, { ...position, ...(limit === undefined ? {} : { limit }) });
  }
  const all = flags.all ? conversationsEverywhere(context, places) : savedConversations(context, places);
  const own = flags.project ? await filterByProject(context, all, (await context.projectRoots()).root) : all;
  return { conversations: sortConversations(own, order).slice(0, limit), total: own.length };
}
