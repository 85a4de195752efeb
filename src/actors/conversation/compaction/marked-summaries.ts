import { messageText, type ResponseItem } from "../../../messages/response-item.js";
import { isCodexSummary } from "../../../messages/codex-summary.js";

/** The history with Codex's summaries marked as ours are: it knows them by how they begin. */
export function withMarkedSummaries(history: readonly ResponseItem[]): readonly ResponseItem[] {
  return history.some(isUnmarked)
    ? history.map((item) => (isUnmarked(item) ? { ...item, summary: true } : item))
    : history;
}

function isUnmarked(item: ResponseItem): item is Extract<ResponseItem, { type: "message" }> {
  return item.type === "message" && item.role === "user" && item.summary !== true && isCodexSummary(messageText(item));
}
