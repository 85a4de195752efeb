import * as z from "zod";

export const FailureCode = z.enum([
  "aborted",
  "actor_failed",
  "actor_stopped",
  "auth",
  "bad_message",
  "bad_request",
  "busy",
  "context_overflow",
  "deadline",
  "internal",
  "limit_reached",
  "network",
  "not_saved",
  "overloaded",
  "rate_limited",
  "thread_died",
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
