import {
  type MessageItem,
  type ResponseItem,
  isCall,
  isOutput,
  isPinned,
  isSummary,
} from "../messages/response-item.js";
import { trimToTarget } from "./cut/trim-to-target.js";
import { type HistoryMap, unsummarizedItems } from "./history-map.js";
import { isFromModel, isRequest } from "./item-kinds.js";
import type { CompactionPlan, StrategyInput } from "./strategy.js";
import { summaryBody, summaryItem } from "./summary/summary-text.js";

interface PlanParts {
  readonly cut: number;
  readonly needsSummary: boolean;
  /** Requests before the cut that stay, possibly shortened, by place. */
  readonly requests: ReadonlyMap<number, ResponseItem>;
  readonly summary: (text: string) => readonly ResponseItem[];
  /** Places the kept requests and results after the summary instead of before it. */
  readonly isSummaryFirst?: boolean;
}

/**
 * Orders the new history: context, pins, kept requests and results, the summary, snapshots, then the tail. Snapshots
 * come before the tail, which may contain newer ones, because undo uses the last snapshot in the history.
 */
export function planHistory(map: HistoryMap, input: StrategyInput, parts: PlanParts): CompactionPlan {
  const { items, context } = map;
  const { cut, requests, isSummaryFirst = false } = parts;
  const head = items.slice(0, cut);
  const results = input.settings.preserveToolResults === "all" ? completedStepIndexes(map, cut) : new Set<number>();
  const kept = head.flatMap((item, place) => requests.get(place) ?? (results.has(place) ? item : []));
  const prefix = [
    ...head.filter((_, place) => context.has(place)),
    ...head.filter(isPinned),
    ...(isSummaryFirst ? [] : kept),
  ];
  const lost = input.settings.preserveToolResults === "none" ? removedStepIndexes(map, cut) : new Set<number>();
  const back = [
    ...head.filter((item) => item.type === "ghost_snapshot"),
    ...(isSummaryFirst ? kept : []),
    ...items.filter((_, place) => place >= cut && !lost.has(place)),
  ];
  return {
    cut,
    needsSummary: parts.needsSummary,
    toSummarize: [...unsummarizedItems(map, cut), ...items.filter((_, place) => lost.has(place))],
    previousSummary: previousSummary(items),
    build: (summary) => trimToTarget([...prefix, ...parts.summary(summary), ...back], input.targetTokens, input.count),
  };
}

export function previousSummary(items: readonly ResponseItem[]): string | undefined {
  const last = items.findLast((item): item is MessageItem => isSummary(item) && item.role === "user");
  return last && summaryBody(last);
}

/** Returns the given cut, or the first safe cut after an earlier summary if that summary covers more. */
export function boundedCut({ items, covered, nextCut }: HistoryMap, cut: number): number {
  return Math.min(items.length, cut < covered ? (nextCut[covered] ?? covered) : cut);
}

/**
 * Returns the request that the tail continues but does not contain, by place; empty when the tail begins with a
 * request.
 */
export function requestOfTail({ items, requests }: HistoryMap, cut: number): Map<number, ResponseItem> {
  const first = items.find((item, place) => place >= cut && (isRequest(item) || isFromModel(item) || isOutput(item)));
  const last = requests.findLast((place) => place < cut);
  const item = last === undefined ? undefined : items[last];
  if (last === undefined || item === undefined || (first !== undefined && isRequest(first))) return new Map();
  return new Map([[last, item]]);
}

/** Returns the places of steps before the cut whose calls all have outputs. */
function completedStepIndexes({ items, groups }: HistoryMap, cut: number): Set<number> {
  const whole = groups.filter(
    ({ places, openCalls }) => openCalls === 0 && (places.at(-1) ?? cut) < cut && hasResults(items, places),
  );
  return new Set(whole.flatMap(({ places }) => places));
}

/** Returns the places of completed steps with calls in the tail, which are removed when no tool result may stay. */
function removedStepIndexes({ items, groups }: HistoryMap, cut: number): Set<number> {
  const selected = groups.filter(
    ({ places, openCalls }) => openCalls === 0 && (places[0] ?? 0) >= cut && hasResults(items, places),
  );
  return new Set(selected.flatMap(({ places }) => places));
}

function hasResults(items: readonly ResponseItem[], places: readonly number[]): boolean {
  return places.some((place) => {
    const item = items[place];
    return item !== undefined && (isCall(item) || isOutput(item));
  });
}

/**
 * Plans a summary of the items before the cut, followed by the rest. If the cut is inside a turn, its request stays
 * before the summary.
 */
export function planRecent(
  map: HistoryMap,
  input: StrategyInput,
  label: string,
  chooseCut: () => number,
): CompactionPlan {
  const cut = boundedCut(map, input.cut ?? chooseCut());
  return planHistory(map, input, {
    cut,
    needsSummary: true,
    requests: requestOfTail(map, cut),
    summary: (text) => [summaryItem(label, text)],
  });
}
