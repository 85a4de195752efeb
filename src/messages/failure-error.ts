import type { Failure } from "./failure.js";

/**
 * Carries a `Failure` to code that awaits a promise; the only error class that holds one. Apart from its schema, because
 * errors are thrown before the schema library is loaded.
 */
export class FailureError extends Error {
  override readonly name = "FailureError";
  readonly failure: Failure;

  constructor(failure: Failure, options?: ErrorOptions) {
    super(failure.message, options);
    this.failure = failure;
  }

  get code(): Failure["code"] {
    return this.failure.code;
  }
}
