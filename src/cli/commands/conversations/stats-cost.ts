import { costOf, type ModelEntries, priceOf } from "../../../config/models/models.js";
import { noTokens } from "../../../messages/token-usage.js";
import type { ModelUsage } from "../../../rollouts/index/conversation-facts.js";

/** What was spent with a model, at the price that is known now, in US dollars; undefined where none is. */
export function costOfModel({ model, input, cached, output }: ModelUsage, models: ModelEntries): number | undefined {
  const price = priceOf(model, models);
  const usage = { ...noTokens, input_tokens: input, cached_input_tokens: cached, output_tokens: output };
  return price === undefined ? undefined : costOf(usage, price);
}

export function costText(cost: number): string {
  return `$${cost < 1 ? cost.toFixed(4) : cost.toFixed(2)}`;
}
