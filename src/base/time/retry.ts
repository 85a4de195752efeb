/** Number of retries of a failed request, and the delay before the first; each delay doubles. */
export interface RetryPolicy {
  readonly maxRetries: number;
  readonly baseDelayMs: number;
  /** Upper bound of a delay, except when the server asks for a longer one. */
  readonly maxDelayMs: number;
}

/** Waits 250 ms, 500 ms, 1 s, 2 s and 4 s. */
export const defaultRetry: RetryPolicy = { maxRetries: 5, baseDelayMs: 250, maxDelayMs: 60_000 };

/** A delay is longer by at most this fraction. */
const maxJitter = 0.1;

/**
 * Returns the delay before a retry, counted from 1: the one that the server asked for, or else the doubled one. The
 * latter is lengthened at random, because a thousand requests that failed together must not come back together.
 */
export function retryDelayMs(
  { baseDelayMs, maxDelayMs }: RetryPolicy,
  attempt: number,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  return Math.round(Math.min(baseDelayMs * 2 ** (attempt - 1), maxDelayMs) * (1 + random() * maxJitter));
}
