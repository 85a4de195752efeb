import type { BigIntStats, Stats } from "node:fs";

/** The reason why a file is not read or written, in words for the model. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
}

/** The error for a path whose target changed after a person approved it. */
export const targetChanged = "the path's target changed after the approval request";

/** Only regular files hold text; reading others may block or have side effects. */
export function rejectSpecialFile(stats: Stats | BigIntStats): void {
  if (stats.isFile()) return;
  throw new FileProblem(`it is ${kindOf(stats)}, not a regular file`);
}

function kindOf(stats: Stats | BigIntStats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  if (stats.isSymbolicLink()) return "a symbolic link";
  return "a device";
}
