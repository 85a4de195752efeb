import { type ResponseItem, codexItems, type PlainItem } from "../messages/response-item.js";
import { COMPACT_THRESHOLD } from "./constants.js";
import { estimateItemTokens, estimateTokens } from "./tokens/estimate-tokens.js";

/** Whether a history exceeds `COMPACT_THRESHOLD` of the model's context window. */
export function needsCompaction(
  history: readonly (ResponseItem | PlainItem)[],
  contextWindow: number,
  countTokens: (text: string) => number = estimateTokens,
): boolean {
  return estimateItemTokens(codexItems(history), countTokens) > Math.floor(contextWindow * COMPACT_THRESHOLD);
}

/** Whether less than the reserve is left of the model's context window. */
export function shouldCompact(tokens: number, contextWindow: number, reserveTokens: number): boolean {
  return tokens > contextWindow - reserveTokens;
}
