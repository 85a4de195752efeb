import type { ModelPrice } from "../../../config/models/model-table.js";
import { costOf } from "../../../config/models/models.js";
import { addUsage, noTokens, type TokenUsage, type TokenUsageInfo } from "../../../messages/token-usage.js";

/** Adds the usage of a model call to the totals, with its cost where the price is known. */
export function usageInfo(
  before: TokenUsageInfo | null,
  usage: TokenUsage,
  price: ModelPrice | undefined,
): TokenUsageInfo {
  const total_token_usage = addUsage(before?.total_token_usage ?? noTokens, usage);
  const spent = before?.cost?.total_usd;
  if (price === undefined && spent === undefined) return { total_token_usage, last_token_usage: usage };
  const last_usd = price === undefined ? 0 : costOf(usage, price);
  return { total_token_usage, last_token_usage: usage, cost: { last_usd, total_usd: (spent ?? 0) + last_usd } };
}
