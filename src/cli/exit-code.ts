import { exitCodes } from "./command-error.js";
import type { TurnOutcome } from "./turn-player.js";

/** What the shell is told about turns; undefined stands for one that there was not. */
export function exitCodeOf(...outcomes: readonly (TurnOutcome | undefined)[]): number {
  return outcomes.every((outcome) => outcome === undefined || outcome === "answered") ? 0 : exitCodes.failed;
}
