import { exitCodes } from "./command-error.js";
import type { TurnOutcome } from "./terminal/turn-player.js";

/** What the shell is told about turns; undefined stands for one that there was not. */
export function exitCodeOf(...outcomes: readonly (TurnOutcome | undefined)[]): number {
  if (outcomes.some(isFailed)) return exitCodes.failed;
  return outcomes.includes("truncated") ? exitCodes.truncated : 0;
}

function isFailed(outcome: TurnOutcome | undefined): boolean {
  return outcome !== undefined && outcome !== "answered" && outcome !== "truncated";
}
