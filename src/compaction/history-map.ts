import { memoizeByObject } from "../base/memoize.js";
import { type ResponseItem, isFlagged, isSummary } from "../messages/response-item.js";
import { contextKey, contextIndexes, isRequest } from "./item-kinds.js";
import { groupsOf, type ItemGroup, safeCuts } from "./cut/safe-cut.js";
import type { CountItem } from "./strategy.js";

/** Facts about a history that all strategies need, computed once. Tokens are counted only where a strategy asks. */
export interface HistoryMap {
  readonly items: readonly ResponseItem[];
  tokensAt(place: number): number;
  /** Whether the items from a place on have at most this many tokens. */
  tailFits(place: number, room: number): boolean;
  readonly groups: readonly ItemGroup[];
  /** For each place, the first safe cut at or after it. */
  readonly nextCut: readonly number[];
  readonly endCut: number;
  readonly requests: readonly number[];
  /** Places of the initial context. */
  readonly context: ReadonlySet<number>;
  /** The place after the last summary. Everything before it is summarized already and cannot stay verbatim. */
  readonly covered: number;
}

export function mapHistory(items: readonly ResponseItem[], count: CountItem): HistoryMap {
  const tokensAt = (place: number): number => {
    const item = items[place];
    return item === undefined ? 0 : count(item);
  };
  return {
    items,
    tokensAt,
    tailFits: (from, room) => {
      let left = room;
      for (let place = items.length - 1; place >= from && left >= 0; place--) left -= tokensAt(place);
      return left >= 0;
    },
    ...structureOf(items),
  };
}

/** Remembered, because a compaction is planned several times with better counts of the same items. */
const structureOf = memoizeByObject((items: readonly ResponseItem[]) => {
  const groups = groupsOf(items);
  const cuts = safeCuts(items, groups);
  const covered = items.findLastIndex(isSummary) + 1;
  return {
    groups,
    nextCut: nextOf(cuts),
    endCut: cuts.lastIndexOf(true) < covered ? items.length : cuts.lastIndexOf(true),
    requests: items.flatMap((item, place) => (isRequest(item) ? [place] : [])),
    context: contextIndexes(items),
    covered,
  };
});

/**
 * Returns the items before the cut that no summary covers yet, without context, pins and snapshots, which are kept
 * anyway.
 */
export function unsummarizedItems({ items, covered }: HistoryMap, cut: number): ResponseItem[] {
  return items
    .slice(covered, cut)
    .filter((item) => item.type !== "ghost_snapshot" && !isFlagged(item) && contextKey(item) === undefined);
}

function nextOf(cuts: readonly boolean[]): number[] {
  const next = Array.from({ length: cuts.length }, () => cuts.length - 1);
  for (let place = cuts.length - 2; place >= 0; place--) {
    next[place] = cuts[place] === true ? place : (next[place + 1] ?? place);
  }
  return next;
}
