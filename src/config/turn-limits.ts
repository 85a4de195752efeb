import type { TurnLimits } from "../messages/config.js";

/** Where a turn is stopped when nobody has said otherwise. */
export const defaultTurnLimits = {
  steps: 200,
  seconds: 3_600,
  tokens: 10_000_000,
  approvalSeconds: 86_400,
} as const satisfies Required<TurnLimits>;
