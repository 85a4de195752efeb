import { type ResponseItem, isFlagged } from "../../messages/response-item.js";
import { groupsOf, type ItemGroup } from "./item-groups.js";

/** Whether cutting before this item keeps every call with its output and all reasoning with what it led to. */
export function isSafeCut(history: readonly ResponseItem[], cut: number): boolean {
  return safeCuts(history, groupsOf(history))[cut] === true;
}

/** Computes for every place of a history, including its end, whether a cut there is safe. */
export function safeCuts(history: readonly ResponseItem[], groups: readonly ItemGroup[]): boolean[] {
  const underWay = new Set(unfinishedGroups(history, groups));
  const change = Array.from({ length: history.length + 2 }, () => 0);
  for (const group of groups) {
    const first = group.places[0] ?? 0;
    const end = underWay.has(group) ? history.length : (group.places.at(-1) ?? first);
    change[first + 1] = (change[first + 1] ?? 0) + 1;
    change[end + 1] = (change[end + 1] ?? 0) - 1;
  }
  let open = 0;
  return Array.from({ length: history.length + 1 }, (_, place) => {
    open += change[place] ?? 0;
    return open === 0;
  });
}

/** Returns the groups whose calls may still receive outputs: no message, call or output follows them. */
export function unfinishedGroups(history: readonly ResponseItem[], groups: readonly ItemGroup[]): ItemGroup[] {
  const lastEvent = history.findLastIndex((item) => item.type !== "ghost_snapshot" && !isFlagged(item));
  return groups.filter(({ places, openCalls }) => openCalls > 0 && (places.at(-1) ?? 0) >= lastEvent);
}
