import type { ResponseItem } from "../messages/response-item.js";
import { groupsOf, type ItemGroup } from "./item-groups.js";
import { isFlagged } from "./item-kinds.js";

/** Whether a history may be cut before an item without parting a call from its output or reasoning from what it led to. */
export function isSafeCut(history: readonly ResponseItem[], cut: number): boolean {
  return safeCuts(history, groupsOf(history))[cut] === true;
}

/** For every place of a history and for its end, whether it is a safe cut. */
export function safeCuts(history: readonly ResponseItem[], groups: readonly ItemGroup[]): boolean[] {
  const lastEvent = history.findLastIndex((item) => item.type !== "ghost_snapshot" && !isFlagged(item));
  const change = Array.from({ length: history.length + 2 }, () => 0);
  for (const { places, openCalls } of groups) {
    const first = places[0] ?? 0;
    const last = places.at(-1) ?? first;
    // Outputs of calls that nothing was said or done behind may still come.
    const end = openCalls > 0 && last >= lastEvent ? history.length : last;
    change[first + 1] = (change[first + 1] ?? 0) + 1;
    change[end + 1] = (change[end + 1] ?? 0) - 1;
  }
  let open = 0;
  return Array.from({ length: history.length + 1 }, (_, place) => {
    open += change[place] ?? 0;
    return open === 0;
  });
}
