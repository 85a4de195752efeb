import { exitCodes } from "./command-error.js";
import type { TurnOutcome } from "./terminal/turn-player.js";

/** The exit code for the outcomes of turns. Undefined means that no turn was played. */
export function exitCodeOf(...outcomes: readonly (TurnOutcome | undefined)[]): number {
  if (outcomes.some(isFailure)) return exitCodes.failed;
  return outcomes.includes("truncated") ? exitCodes.truncated : 0;
}

function isFailure(outcome: TurnOutcome | undefined): boolean {
  return outcome !== undefined && outcome !== "answered" && outcome !== "truncated";
}
