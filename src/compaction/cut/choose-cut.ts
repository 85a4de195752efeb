import { isOutput, isPinned, isSummary, type ResponseItem } from "../../messages/response-item.js";
import { MAX_SUMMARY_TOKENS, KEEP_RECENT_TOKENS } from "../constants.js";
import type { HistoryMap } from "../history-map.js";
import { isFromModel, isRequest } from "../item-kinds.js";
import type { CountItem } from "../strategy.js";
import { estimateItemTokens, estimateTokens } from "../tokens/estimate-tokens.js";

/** Returns the token budget of the tail, so that it fits after context, pins and a summary. */
export function roomForTail(map: HistoryMap, targetTokens: number): number {
  const fixed = map.items.reduce(
    (sum, item, place) => (map.context.has(place) || isPinned(item) ? sum + map.tokensAt(place) : sum),
    0,
  );
  return targetTokens - fixed - Math.min(MAX_SUMMARY_TOKENS, Math.floor(targetTokens / 4));
}

/**
 * Returns the first of these places that is a safe cut with a fitting tail. If even the last turn is too large,
 * returns a cut inside it.
 */
export function fittingCut(map: HistoryMap, places: readonly number[], room: number, roomInside: number): number {
  const cuts = places.map((place) => Math.max(place, map.covered)).filter((place) => map.nextCut[place] === place);
  return cuts.find((cut) => map.tailFits(cut, room)) ?? cutInsideTurn(map, roomInside);
}

/** Returns a cut that keeps the last turn's request and as many of its steps as fit, but at least the last step. */
export function cutInsideTurn(map: HistoryMap, room: number): number {
  const request = map.requests.at(-1) ?? -1;
  const from = Math.max(0, request, map.covered);
  const newestStep = map.groups.findLast(({ isStep }) => isStep)?.places[0] ?? from;
  const requestTokens = Math.min(map.tokensAt(request), room / 2);
  let cut = map.nextCut[from] ?? from;
  while (!map.tailFits(cut, room - (cut > request ? requestTokens : 0))) {
    const next = map.nextCut[cut + 1];
    if (next === undefined || next > newestStep) break;
    cut = next;
  }
  return cut;
}

/** Returns the place of the first request that the model has not started to answer. */
export function unansweredFrom({ items }: HistoryMap): number | undefined {
  const done = items.findLastIndex((item) => isFromModel(item) || isOutput(item) || isSummary(item));
  const first = items.findIndex((item, place) => place > done && isRequest(item));
  return first < 0 ? undefined : first;
}

export interface CutPointResult {
  readonly firstKeptIndex: number;
  readonly entriesToSummarize: readonly ResponseItem[];
  readonly entriesToKeep: readonly ResponseItem[];
}

/**
 * Finds the cut that keeps about `keepRecentTokens` tokens. It walks back from the end until the budget is exceeded
 * and cuts at the next user message, so never inside a turn and never before an earlier summary. A last turn that
 * exceeds the budget by itself stays whole.
 */
export function findCutPoint(
  history: readonly ResponseItem[],
  keepRecentTokens: number = KEEP_RECENT_TOKENS,
  count: CountItem = estimatedTokens,
): CutPointResult {
  const requests = history.flatMap((item, place) => (isRequest(item) ? [place] : []));
  const covered = history.findLastIndex(isSummary) + 1;
  const tokens = history.map(count);
  const tokensAt = (place: number): number => tokens[place] ?? 0;
  const firstKeptIndex = cutPoint({ items: history, tokensAt, requests, covered }, keepRecentTokens);
  return {
    firstKeptIndex,
    entriesToSummarize: history.slice(covered, firstKeptIndex),
    entriesToKeep: history.slice(firstKeptIndex),
  };
}

export function cutPoint(
  map: Pick<HistoryMap, "items" | "tokensAt" | "requests" | "covered">,
  keepRecentTokens: number,
): number {
  const { items, requests, covered } = map;
  let place = items.length;
  for (let keptTokens = 0; place > covered; place--) {
    keptTokens += map.tokensAt(place - 1);
    if (keptTokens > keepRecentTokens) break;
  }
  if (place === covered) return covered;
  return Math.max(covered, requests.find((request) => request >= place - 1) ?? requests.at(-1) ?? covered);
}

function estimatedTokens(item: ResponseItem): number {
  return estimateItemTokens([item], estimateTokens);
}
