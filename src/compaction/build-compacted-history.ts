import { summaryLabels } from "../base/codex/codex-summary.js";
import { type ResponseItem, codexItems, type PlainItem } from "../messages/response-item.js";
import { summaryItem } from "./summary/summary-text.js";

/** Builds the Codex-style history: initial context, then the user's messages, then one summary item. */
export function buildCompactedHistory(
  initialContext: readonly (ResponseItem | PlainItem)[],
  userMessages: readonly string[],
  summary: string,
): ResponseItem[] {
  const said = userMessages.map((text): ResponseItem => ({
    type: "message",
    role: "user",
    content: [{ type: "input_text", text }],
  }));
  return [...codexItems(initialContext), ...said, summaryItem(summaryLabels.codex, summary)];
}
