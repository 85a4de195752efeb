import { systemCode, systemReason } from "../base/system-error.js";
import { FileProblem } from "./files/file-problem.js";

/** Why something was not done, in a few words for the model. What is neither ours nor the system's is a bug and thrown on. */
export function failureWords(error: unknown): string {
  if (error instanceof FileProblem) return error.message;
  const code = systemCode(error);
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) throw error;
  return systemReason(error);
}
