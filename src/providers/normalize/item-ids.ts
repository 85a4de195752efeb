import type { CustomItem, SentItem } from "./sent-item.js";

/** An item that repeats the id of an earlier one goes without: Responses refuses two of one id, and needs none. */
export function withoutDoubledIds(items: readonly (SentItem | CustomItem)[]): (SentItem | CustomItem)[] {
  const seen = new Set<string>();
  return items.map((item) => {
    if (!("id" in item) || typeof item.id !== "string") return item;
    if (!seen.has(item.id)) {
      seen.add(item.id);
      return item;
    }
    const { id: _, ...rest } = item;
    return rest;
  });
}
