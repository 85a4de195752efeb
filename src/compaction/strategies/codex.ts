import { summaryLabels } from "../../base/codex/codex-summary.js";
import { boundedCut, planHistory } from "../plan-history.js";
import { unansweredFrom } from "../cut/choose-cut.js";
import { type HistoryMap, mapHistory } from "../history-map.js";
import { isRequest } from "../item-kinds.js";
import { keepNewest } from "../cut/cut-item.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { CompactionStrategy, StrategyInput } from "../strategy.js";
import { summaryItem } from "../summary/summary-text.js";

/** Keeps the user's messages as far as they fit and summarizes the rest. Unanswered requests stay after the summary. */
export const codex: CompactionStrategy = {
  name: "codex",
  label: summaryLabels.codex,
  prompt:
    "Please provide a concise summary of the conversation so far, under 500 tokens, for someone who continues this work and sees only the summary and the user's newest messages.",
  isCutFixed: true,
  plan: (input) => {
    const map = mapHistory(input.history, input.count);
    const cut = boundedCut(map, input.cut ?? unansweredFrom(map) ?? map.endCut);
    return planHistory(map, input, {
      cut,
      needsSummary: true,
      requests: newestRequests(map, cut, input),
      summary: (text) => [summaryItem(summaryLabels.codex, text)],
    });
  },
};

/** Charges the budget for the requests of the tail first, because they are newer. */
function newestRequests(map: HistoryMap, cut: number, { settings, count }: StrategyInput): Map<number, ResponseItem> {
  const places = map.requests.filter((place) => place < cut);
  const tail = map.requests.slice(places.length);
  const kept = keepNewest(map.items.slice(0, cut).filter(isRequest), {
    budget: settings.userMessageTokens - tail.reduce((sum, place) => sum + map.tokensAt(place), 0),
    count,
    keepLast: tail.length === 0,
  });
  const keptPlaces = places.slice(places.length - kept.length);
  return new Map(kept.map((item, index) => [keptPlaces[index] ?? -1, item]));
}
