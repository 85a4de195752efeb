import type { StrategyInput, StrategySettings } from "../../src/compaction/strategy.js";
import type { ResponseItem } from "../../src/messages/response-item.js";
import { count } from "./items.js";

const settings: StrategySettings = {
  keepRecentTokens: 20_000,
  keepTurns: 5,
  userMessageTokens: 20_000,
  preserveToolResults: "recent",
};

type Choices = Partial<StrategySettings> & Partial<Pick<StrategyInput, "cut" | "targetTokens">>;

/** The input of a strategy, with a large target by default. */
export function inputOf(
  history: readonly ResponseItem[],
  { cut, targetTokens = 100_000, ...chosen }: Choices = {},
): StrategyInput {
  const input = { history, settings: { ...settings, ...chosen }, targetTokens, count };
  return cut === undefined ? input : { ...input, cut };
}
