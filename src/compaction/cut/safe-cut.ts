import {
  type ResponseItem,
  isFlagged,
  type CallItem,
  isCall,
  isOutput,
  isPinned,
  type OutputItem,
} from "../../messages/response-item.js";
import { isFromModel } from "../item-kinds.js";

/** Whether cutting before this item keeps every call with its output and all reasoning with what it led to. */
export function isSafeCut(history: readonly ResponseItem[], cut: number): boolean {
  return safeCuts(history, groupsOf(history))[cut] === true;
}

/** Computes for every place of a history, including its end, whether a cut there is safe. */
export function safeCuts(history: readonly ResponseItem[], groups: readonly ItemGroup[]): boolean[] {
  const unfinished = new Set(unfinishedGroups(history, groups));
  const change = Array.from({ length: history.length + 2 }, () => 0);
  for (const group of groups) {
    const first = group.places[0] ?? 0;
    const end = unfinished.has(group) ? history.length : (group.places.at(-1) ?? first);
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

/** Items that must be kept or dropped together, as ascending places in the history. */
export interface ItemGroup {
  readonly places: number[];
  /** Number of calls in the group that have no output yet. */
  openCalls: number;
  readonly isStep: boolean;
}

/**
 * Assigns every item to exactly one group. Consecutive model items form one group together with the outputs of their
 * calls, wherever those are, because providers reject a call without its output or without the reasoning that led to
 * it. Every other item is a group of its own. An output belongs to the first earlier call with its id that has no
 * output yet. Groups are ordered by their first item.
 */
export function groupsOf(items: readonly ResponseItem[]): ItemGroup[] {
  const groups: ItemGroup[] = [];
  const waiting = new Map<string, { readonly calls: ItemGroup[]; answered: number }>();
  let step: ItemGroup | undefined;
  const begin = (isStep: boolean): ItemGroup => {
    const group: ItemGroup = { places: [], openCalls: 0, isStep };
    groups.push(group);
    return group;
  };
  for (const [place, item] of items.entries()) {
    if (isFromModel(item)) {
      step ??= begin(true);
      step.places.push(place);
      if (!isCall(item) || typeof item.call_id !== "string") continue;
      step.openCalls += 1;
      const slot = waiting.get(keyOf(item));
      if (slot === undefined) waiting.set(keyOf(item), { calls: [step], answered: 0 });
      else slot.calls.push(step);
      continue;
    }
    if (isOutput(item)) {
      const slot = waiting.get(keyOf(item));
      const call = slot?.calls[slot.answered];
      (call ?? begin(false)).places.push(place);
      if (slot !== undefined && call !== undefined) {
        slot.answered += 1;
        call.openCalls -= 1;
      }
      step = undefined;
      continue;
    }
    begin(false).places.push(place);
    // Snapshots and pins do not separate two steps: they record nothing that happened in between.
    if (item.type === "message" && !isPinned(item)) step = undefined;
  }
  return groups;
}

/** `tool_search` calls have an output type of their own; all other call and output types share one id space. */
function keyOf(item: CallItem | OutputItem): string {
  return `${item.type.startsWith("tool_search") ? "search" : "call"} ${item.call_id ?? ""}`;
}
