import { summaryLabels } from "../../base/codex/codex-summary.js";
import { cutInsideTurn, fittingCut, roomForTail, cutPoint } from "../cut/choose-cut.js";
import { type HistoryMap, mapHistory, unsummarizedItems } from "../history-map.js";
import type { CompactionStrategy, StrategyInput } from "../strategy.js";
import { planRecent } from "../plan-history.js";

/** Keeps about the last `keepRecentTokens` tokens verbatim, starting at a user message. */
export const recentTokens: CompactionStrategy = {
  name: "recent-tokens",
  label: summaryLabels["recent-tokens"],
  prompt: "Summarize this coding session, so that it can be continued from the summary and its last messages alone.",
  plan: (input) => {
    const map = mapHistory(input.history, input.count);
    return planRecent(map, input, summaryLabels["recent-tokens"], () => chosenCut(map, input));
  },
};

function chosenCut(map: HistoryMap, { settings, targetTokens }: StrategyInput): number {
  const room = roomForTail(map, targetTokens);
  const keep = Math.min(room, settings.keepRecentTokens);
  const first = cutPoint(map, keep);
  const cut = fittingCut(map, [first, ...map.requests.filter((place) => place > first)], room, keep);
  const isSingleTurn = map.covered === 0 && unsummarizedItems(map, cut).length === 0;
  return isSingleTurn && !map.tailFits(cut, keep) ? cutInsideTurn(map, keep) : cut;
}
