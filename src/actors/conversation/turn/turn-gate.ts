import { estimateItemTokens } from "../../../compaction/tokens/estimate-tokens.js";
import type { ModelRequest } from "../../../messages/model.js";
import type { TurnParts } from "./play-turn.js";
import type { SampleGate } from "./sampling.js";
import type { Settings } from "../state/settings.js";
import type { TurnBudget } from "./turn-budget.js";

/** Where the requests of a turn wait for their turn among all others. */
export function turnGate(parts: TurnParts, { provider }: Settings, budget: TurnBudget): SampleGate {
  const { gate, conversationId } = parts;
  const countTokens = (text: string): number => parts.countTokens(text);
  const tokensOf = ({ instructions, input }: ModelRequest): number =>
    countTokens(instructions) + estimateItemTokens(input, countTokens);
  return {
    enter: (request) => {
      const enter = () => gate.enter({ provider, conversationId, tokens: () => tokensOf(request) }, budget.signal);
      // Time stands still meanwhile: others are to blame for the wait.
      return gate.isLimited(provider) ? budget.whilePaused(enter) : enter();
    },
    heard: (failure) => gate.heard(provider, failure),
  };
}
