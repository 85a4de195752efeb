import { constants, getPriority, setPriority } from "node:os";

const niceness = 10;

/** Whether a thread can have a priority of its own; elsewhere this is about the whole process. */
export const canGiveWay = process.platform === "linux";

/** Lets every other thread of the process go first; called by a thread about itself. */
export function giveWay(): void {
  if (!canGiveWay) return;
  try {
    setPriority(Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW));
  } catch {
    // Some containers forbid it, and it is only a courtesy.
  }
}
