import { type ResponseItem, isSummary } from "../../messages/response-item.js";
import { KEEP_RECENT_TOKENS } from "../constants.js";
import { estimateItemTokens, estimateTokens } from "../tokens/estimate-tokens.js";
import { isRequest } from "../item-kinds.js";
import type { CountItem } from "../strategy.js";

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
  const firstKeptIndex = cutPoint(history.map(count), requests, covered, keepRecentTokens);
  return {
    firstKeptIndex,
    entriesToSummarize: history.slice(covered, firstKeptIndex),
    entriesToKeep: history.slice(firstKeptIndex),
  };
}

export function cutPoint(
  tokens: readonly number[],
  requests: readonly number[],
  covered: number,
  keepRecentTokens: number,
): number {
  let place = tokens.length;
  for (let kept = 0; place > covered; place--) {
    kept += tokens[place - 1] ?? 0;
    if (kept > keepRecentTokens) break;
  }
  if (place === covered) return covered;
  return Math.max(covered, requests.find((request) => request >= place - 1) ?? requests.at(-1) ?? covered);
}

function estimatedTokens(item: ResponseItem): number {
  return estimateItemTokens([item], estimateTokens);
}
