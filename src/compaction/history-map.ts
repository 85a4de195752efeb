import { type ResponseItem, isFlagged, isSummary } from "../messages/response-item.js";
import { contextKey, contextIndexes, isRequest } from "./item-kinds.js";
import { groupsOf, type ItemGroup, safeCuts } from "./cut/safe-cut.js";
import type { CountItem } from "./strategy.js";

/** Facts about a history that all strategies need, computed once. */
export interface HistoryMap {
  readonly items: readonly ResponseItem[];
  readonly tokens: readonly number[];
  /** For each place, the tokens from there to the end. */
  readonly tailTokens: readonly number[];
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
  const tokens = items.map(count);
  const groups = groupsOf(items);
  const cuts = safeCuts(items, groups);
  const covered = items.findLastIndex(isSummary) + 1;
  return {
    items,
    tokens,
    tailTokens: sumsFromEnd(tokens),
    groups,
    nextCut: nextOf(cuts),
    endCut: cuts.lastIndexOf(true) < covered ? items.length : cuts.lastIndexOf(true),
    requests: items.flatMap((item, place) => (isRequest(item) ? [place] : [])),
    context: contextIndexes(items),
    covered,
  };
}

/**
 * Returns the items before the cut that no summary covers yet, without context, pins and snapshots, which are kept
 * anyway.
 */
export function unsummarizedItems({ items, covered }: HistoryMap, cut: number): ResponseItem[] {
  return items
    .slice(covered, cut)
    .filter((item) => item.type !== "ghost_snapshot" && !isFlagged(item) && contextKey(item) === undefined);
}

function sumsFromEnd(tokens: readonly number[]): number[] {
  const sums = Array.from({ length: tokens.length + 1 }, () => 0);
  for (let place = tokens.length - 1; place >= 0; place--) {
    sums[place] = (sums[place + 1] ?? 0) + (tokens[place] ?? 0);
  }
  return sums;
}

function nextOf(cuts: readonly boolean[]): number[] {
  const next = Array.from({ length: cuts.length }, () => cuts.length - 1);
  for (let place = cuts.length - 2; place >= 0; place--) {
    next[place] = cuts[place] === true ? place : (next[place + 1] ?? place);
  }
  return next;
}
