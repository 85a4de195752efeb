import type { BigIntStats, Stats } from "node:fs";
import { systemCode, systemReason } from "../../base/system-error.js";

/** The error for a path whose target changed after a person approved it. */
export const targetChanged = "the path's target changed after the approval request";

/** The reason why a file is not read or written, in words for the model. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
}

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

/**
 * Explains to the model in a few words why something failed. An error that is neither ours nor the system's is a bug
 * and is rethrown.
 */
export function failureText(error: unknown): string {
  if (error instanceof FileProblem) return error.message;
  const code = systemCode(error);
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) throw error;
  return systemReason(error);
}
