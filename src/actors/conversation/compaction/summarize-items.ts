import type { ResponseItem } from "../../../messages/response-item.js";
import type { SummaryOutcome } from "../../compactor/summarizer.js";
import { chooseStrategy, type PlanContext, summaryRequest } from "./plan-compaction.js";

/** Asks the conversation's model for a summary of some items, without recording it. */
export async function summarizeItems(world: PlanContext, items: readonly ResponseItem[]): Promise<SummaryOutcome> {
  const { parts, cell } = world;
  const { settings } = cell;
  const plan = { toSummarize: items, previousSummary: undefined };
  const request = summaryRequest(world, chooseStrategy(parts, settings), plan, { settings });
  const by = parts.compaction.summaryBy(settings);
  return await parts.compaction.compactor.ask({ type: "summarize", by, request });
}
