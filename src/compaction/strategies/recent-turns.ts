import { summaryLabels } from "../../base/codex/codex-summary.js";
import { fittingCut, roomForTail } from "../cut/choose-cut.js";
import { mapHistory } from "../history-map.js";
import type { CompactionStrategy } from "../strategy.js";
import { planRecent } from "../plan-history.js";

/** Keeps the last `keepTurns` turns verbatim, or as many of them as fit. */
export const recentTurns: CompactionStrategy = {
  name: "recent-turns",
  label: summaryLabels["recent-turns"],
  prompt: "Summarize this conversation, preserving key decisions and context:",
  plan: (input) => {
    const map = mapHistory(input.history, input.count);
    const room = roomForTail(map, input.targetTokens);
    const turns = map.requests.slice(-input.settings.keepTurns);
    return planRecent(map, input, summaryLabels["recent-turns"], () => fittingCut(map, turns, room, room));
  },
};
