import * as z from "zod";

export const FailureCode = z.enum([
  "aborted",
  "actor_failed",
  "actor_stopped",
  "auth",
  "bad_message",
  "busy",
  /** A model, or who watches over it, declined to answer. */
  "content_filtered",
  "context_overflow",
  "deadline",
  "internal",
  "invalid_request",
  "limit_reached",
  "network",
  "not_saved",
  "overloaded",
  "rate_limit",
  /** The other side failed for a reason of its own. */
  "server",
  "thread_died",
  "timeout",
  "unknown",
  "unsupported",
]);
export type FailureCode = z.infer<typeof FailureCode>;

/** How something outside our control went wrong, as data: it crosses threads, files and sockets whole. */
export const Failure = z.object({
  code: FailureCode,
  message: z.string(),
  retryable: z.boolean(),
  /** How long the other side asked us to wait before trying again. */
  retryAfterMs: z.number().nonnegative().optional(),
});
export type Failure = z.infer<typeof Failure>;

/** A failure on its way to someone who awaits: the one error class with a `Failure` inside. */
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
