import type { Failure } from "../../messages/failure.js";
import { FailureError } from "../../messages/failure-error.js";

export function makeFailure(code: Failure["code"], message: string, retryable = false): Failure {
  return { code, message, retryable };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Describes why work beside a mailbox failed; a `FailureError` keeps its failure code. */
export function toFailure(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return makeFailure("aborted", messageOf(error));
  return error instanceof FailureError ? error.failure : makeFailure("internal", messageOf(error));
}
