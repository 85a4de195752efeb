import { systemCode, systemReason } from "../base/system-error.js";
import { FileProblem } from "./files/file-problem.js";

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
