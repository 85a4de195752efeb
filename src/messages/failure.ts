import * as z from "zod";

export const FailureCode = z.enum([
  "aborted",
  "actor_failed",
  "actor_stopped",
  "auth",
  "bad_message",
  "busy",
  /** The model or its provider's content filter declined to answer. */
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
  /** The remote server failed for internal reasons. */
  "server",
  "thread_died",
  "timeout",
  "unknown",
  "unsupported",
]);
export type FailureCode = z.infer<typeof FailureCode>;

/** An error outside our control, as plain data, so that it can be sent across threads, files and sockets. */
export const Failure = z.object({
  code: FailureCode,
  message: z.string(),
  retryable: z.boolean(),
  /** The wait that the server asked for before a retry. */
  retryAfterMs: z.number().nonnegative().optional(),
});
export type Failure = z.infer<typeof Failure>;
