import { summaryLabels } from "../../base/codex/codex-summary.js";
import { type MessageItem, messageText, type ResponseItem, isOutput } from "../../messages/response-item.js";
import { fittingCut, roomForTail, unansweredFrom } from "../cut/choose-cut.js";
import { type HistoryMap, mapHistory } from "../history-map.js";
import { isFromModel, isRequest } from "../item-kinds.js";
import { keepNewest } from "../cut/cut-item.js";
import { boundedCut, planHistory, previousSummary, requestOfTail } from "../plan-history.js";
import type { CompactionStrategy, StrategyInput } from "../strategy.js";
import { summaryItem } from "../summary/summary-text.js";

/** Introduces the kept requests, because the model no longer sees its answers and tool results. */
export const COMPACT_SYSTEM_PROMPT =
  "The conversation so far was shortened. Below are only the user's earlier requests; your answers to them, and what your tools gave back, are not shown. Take the requests as worked on, look at the files for how far the work is before you change anything, and then do what the user asks next.";

/** Keeps only the user's requests, in one message, without asking a model for a summary. Meant for reasoning models. */
export const userOnly: CompactionStrategy = {
  name: "user-only",
  label: summaryLabels["user-only"],
  prompt: "Summarize this conversation by what the user asked for.",
  plan: (input) => {
    const map = mapHistory(input.history, input.count);
    const cut = boundedCut(map, input.cut ?? chosenCut(map, input));
    const current =
      isInsideTurn(map, cut) || isTurnUnfinished(map) ? requestOfTail(map, cut) : new Map<number, ResponseItem>();
    const requests = requestsText(map, input, cut, current);
    return planHistory(map, input, {
      cut,
      needsSummary: false,
      requests: current,
      summary: () => [compactPrompt(), summaryItem(summaryLabels["user-only"], requests)],
      isSummaryFirst: true,
    });
  },
};

/**
 * Keeps as many steps of a running turn as fit: there is no summary, so the model would otherwise start the turn
 * over.
 */
function chosenCut(map: HistoryMap, { settings, targetTokens }: StrategyInput): number {
  const unanswered = unansweredFrom(map);
  if (unanswered !== undefined) return unanswered;
  if (!isTurnUnfinished(map) || settings.preserveToolResults === "none") return map.endCut;
  const room = Math.min(roomForTail(map, targetTokens), settings.keepRecentTokens);
  return fittingCut(map, map.requests.slice(-1), room, room);
}

/** Whether the model has not yet finished its answer to the last request. */
function isTurnUnfinished({ items, groups, requests, covered }: HistoryMap): boolean {
  const request = requests.at(-1) ?? -1;
  const step = groups.findLast(({ isStep, places }) => isStep && (places[0] ?? 0) >= Math.max(request, covered));
  if (request < 0 || step === undefined) return request >= covered;
  return items[step.places.at(-1) ?? -1]?.type !== "message";
}

function isInsideTurn({ items }: HistoryMap, cut: number): boolean {
  return items.some((item, place) => place >= cut && (isFromModel(item) || isOutput(item)));
}

function requestsText(
  map: HistoryMap,
  input: StrategyInput,
  cut: number,
  current: ReadonlyMap<number, ResponseItem>,
): string {
  const earlier = previousSummary(map.items) ?? "";
  const requests = map.items.flatMap((item, place) =>
    place < cut && !current.has(place) && isRequest(item) ? [messageText(item)] : [],
  );
  const lines = [earlier, ...requests].filter((text) => text !== "").map((text) => line(`${text}\n`));
  const kept = keepNewest(lines, { budget: input.settings.userMessageTokens, count: input.count, keepLast: true });
  return kept.map(messageText).join("").trim();
}

function line(text: string): MessageItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

function compactPrompt(): ResponseItem {
  const content = [{ type: "input_text" as const, text: COMPACT_SYSTEM_PROMPT }];
  return { type: "message", role: "developer", content, summary: true };
}
