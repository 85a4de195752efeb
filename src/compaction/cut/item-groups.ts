import {
  type ResponseItem,
  type CallItem,
  isCall,
  isOutput,
  isPinned,
  type OutputItem,
} from "../../messages/response-item.js";
import { isFromModel } from "../item-kinds.js";

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
      const asked = slot?.calls[slot.answered];
      (asked ?? begin(false)).places.push(place);
      if (slot !== undefined && asked !== undefined) {
        slot.answered += 1;
        asked.openCalls -= 1;
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
