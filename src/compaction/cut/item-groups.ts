import {
  type ResponseItem,
  type CallItem,
  isCall,
  isOutput,
  isPinned,
  type OutputItem,
} from "../../messages/response-item.js";
import { isOfModel } from "../item-kinds.js";

/** Items that stay or go together, by their places in ascending order. */
export interface ItemGroup {
  readonly places: number[];
  /** The calls among them that have no output. */
  openCalls: number;
  readonly isStep: boolean;
}

/**
 * Every item in one group: what the model did in a row is one, with the outputs of its calls wherever they stand, since
 * providers refuse a call without its output and without the reasoning that led to it. Anything else is alone.
 * An output belongs to the first call of its id that stands before it and has none yet. Groups are in order of their
 * first items.
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
    if (isOfModel(item)) {
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
    // Snapshots and pins are nothing that happened between two steps.
    if (item.type === "message" && !isPinned(item)) step = undefined;
  }
  return groups;
}

/** Searches for tools have outputs of their own kind; the other kinds were written for one another. */
function keyOf(item: CallItem | OutputItem): string {
  return `${item.type.startsWith("tool_search") ? "search" : "call"} ${item.call_id ?? ""}`;
}
