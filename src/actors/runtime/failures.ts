import { type Failure, FailureError } from "../../messages/failure.js";

export function failed(code: Failure["code"], message: string, retryable = false): Failure {
  return { code, message, retryable };
}

/** What a thrown value says about itself. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** How work beside a mailbox ended when it threw; a failure that was thrown as such keeps its code. */
export function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return failed("aborted", messageOf(error));
  return error instanceof FailureError ? error.failure : failed("internal", messageOf(error));
}
