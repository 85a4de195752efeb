import type { TurnLimits } from "../../messages/config.js";

export const defaultTurnLimits = {
  steps: 200,
  seconds: 3_600,
  tokens: 10_000_000,
  answerBytes: 8 * 1024 * 1024,
  turnBytes: 64 * 1024 * 1024,
  approvalSeconds: 86_400,
  identicalFailures: 3,
} as const satisfies Required<TurnLimits>;

export type EffectiveLimits = Readonly<Record<keyof TurnLimits, number>>;

export function effectiveLimits(said: TurnLimits = {}): EffectiveLimits {
  const { steps, seconds, tokens, answerBytes, turnBytes, approvalSeconds, identicalFailures } = said;
  return {
    steps: steps ?? defaultTurnLimits.steps,
    seconds: seconds ?? defaultTurnLimits.seconds,
    tokens: tokens ?? defaultTurnLimits.tokens,
    answerBytes: answerBytes ?? defaultTurnLimits.answerBytes,
    turnBytes: turnBytes ?? defaultTurnLimits.turnBytes,
    approvalSeconds: approvalSeconds ?? defaultTurnLimits.approvalSeconds,
    identicalFailures: identicalFailures ?? defaultTurnLimits.identicalFailures,
  };
}

/** The default number of turns that the model sees. */
export const defaultHistoryTurns = 1_000;
