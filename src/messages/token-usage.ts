import * as z from "zod";

const count = z.number().int().nonnegative();

export const TokenUsage = z.object({
  input_tokens: count,
  cached_input_tokens: count,
  output_tokens: count,
  reasoning_output_tokens: count,
  total_tokens: count,
});
export type TokenUsage = z.infer<typeof TokenUsage>;

export const TokenUsageInfo = z.object({
  total_token_usage: TokenUsage,
  last_token_usage: TokenUsage,
  model_context_window: count.nullish(),
  /** Ours: the cost of the tokens in US dollars, if the model's price is known. Codex ignores it. */
  cost: z.object({ last_usd: z.number().nonnegative(), total_usd: z.number().nonnegative() }).optional(),
});
export type TokenUsageInfo = z.infer<typeof TokenUsageInfo>;

export const noTokens: TokenUsage = {
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  reasoning_output_tokens: 0,
  total_tokens: 0,
};

export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    reasoning_output_tokens: a.reasoning_output_tokens + b.reasoning_output_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
  };
}
