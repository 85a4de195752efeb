import { add, type Counts } from "./load.js";

/** Problems that must not happen even once. */
export const checks = [
  "turns that did not end exactly once",
  "submissions that were refused",
  "gaps and doubles in the numbers",
  "readers that lagged",
  "messages other than their deltas",
  "turns that were not saved",
  "internal errors and warnings",
  "rollouts with other turns than submitted",
  "rollouts that cannot be read",
  "locks, sockets and strange files left",
] as const;
export type Check = (typeof checks)[number];

/** The number of problems by check, and by detail. */
export interface Findings {
  readonly counts: Counts;
  readonly details: Counts;
}

const maxDetails = 50;

export function find({ counts, details }: Findings, check: Check, detail: string): void {
  add(counts, check);
  if (detail in details || Object.keys(details).length < maxDetails) add(details, detail);
}
