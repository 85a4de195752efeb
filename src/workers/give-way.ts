import { constants, getPriority, setPriority } from "node:os";

const niceness = 10;

/** Whether a thread can have its own priority; elsewhere the priority applies to the whole process. */
export const hasThreadPriority = process.platform === "linux";

/** Lowers the priority of the calling thread below all other threads of the process. */
export function lowerThreadPriority(): void {
  if (!hasThreadPriority) return;
  try {
    setPriority(Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW));
  } catch {
    // Some containers forbid it, and the lower priority is optional.
  }
}
