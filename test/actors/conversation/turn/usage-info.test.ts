import { expect, test } from "vitest";
import { noTokens } from "../../../../src/messages/token-usage.js";
import { usageInfo } from "../../../../src/actors/conversation/turn/turn-budget.js";

const usage = { ...noTokens, input_tokens: 1_000_000, output_tokens: 1_000_000, total_tokens: 2_000_000 };

test("usageInfo adds up tokens and costs, and a model without a price adds no cost", () => {
  const unknown = usageInfo(null, usage, undefined);
  expect(unknown).toEqual({ total_token_usage: usage, last_token_usage: usage });
  const first = usageInfo(unknown, usage, { input: 2, output: 3 });
  expect(first).toMatchObject({ total_token_usage: { total_tokens: 4_000_000 }, cost: { last_usd: 5, total_usd: 5 } });
  const second = usageInfo(first, usage, { input: 1, output: 1 });
  expect(second.cost).toEqual({ last_usd: 2, total_usd: 7 });
  expect(usageInfo(second, usage, undefined).cost).toEqual({ last_usd: 0, total_usd: 7 });
});
