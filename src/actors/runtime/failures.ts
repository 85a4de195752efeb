import { errorMessage } from "../../base/error-message.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Failure } from "../../messages/failure.js";

export { errorMessage as messageOf };

export function makeFailure(code: Failure["code"], message: string, retryable = false): Failure {
  return { code, message, retryable };
}

/** Describes why work beside a mailbox failed; a `FailureError` keeps its failure code. */
export function toFailure(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return makeFailure("aborted", errorMessage(error));
  return error instanceof FailureError ? error.failure : makeFailure("internal", errorMessage(error));
}

/** Wraps a listener so that its errors cannot reach the caller; the first error is reported as a warning. */
export function isolateListener<T>(owner: string, listener: ((value: T) => unknown) | undefined): (value: T) => void {
  let warned = false;
  const warn = (error: unknown): void => {
    if (warned) return;
    warned = true;
    process.emitWarning(`${owner}: a listener threw: ${errorMessage(error)}`);
  };
  return (value) => {
    try {
      const result = listener?.(value);
      if (result instanceof Promise) result.catch(warn);
    } catch (error) {
      warn(error);
    }
  };
}
