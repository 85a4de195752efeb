import type { FailureCode } from "../../messages/failure.js";

const retryableCodes: ReadonlySet<FailureCode> = new Set(["network", "overloaded", "rate_limit", "server", "timeout"]);

/** Whether a failed request may succeed when it is sent again. */
export function isRetryable(code: FailureCode): boolean {
  return retryableCodes.has(code);
}

/** Maps an HTTP status to a failure code. */
export function codeOfStatus(status: number): FailureCode {
  if (status === 401 || status === 403) return "auth";
  if (status === 408) return "timeout";
  if (status === 429) return "rate_limit";
  // The server is too busy, or still handles another request of ours.
  if (status === 409 || status === 425 || status === 503 || status === 529) return "overloaded";
  return status >= 500 ? "server" : "invalid_request";
}
