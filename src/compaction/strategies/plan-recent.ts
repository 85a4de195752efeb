import type { HistoryMap } from "../history-map.js";
import { boundedCut, planHistory, requestOfTail } from "../plan-history.js";
import type { CompactionPlan, StrategyInput } from "../strategy.js";
import { summaryItem } from "../summary/summary-text.js";

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
