import type { AnswerHeaders } from "../transport/transport.js";

const maxRateLimitWaitMs = 5 * 60_000;
/** The kinds of limits in the rate limit headers of OpenAI-compatible servers and Anthropic. */
const kinds = ["requests", "tokens", "input-tokens", "output-tokens"];
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** How long to wait because a rate limit is exhausted; undefined while something remains. */
export function rateLimitWaitMs(headers: AnswerHeaders, nowMs: number): number | undefined {
  // Fast path: most answers have no such headers, and a thousand answers may begin at the same time.
  if (!Object.keys(headers).some((name) => name.includes("ratelimit"))) return undefined;
  const wait = (remaining: string, reset: string): number => waitOf(headers[remaining], headers[reset], nowMs);
  const waits = kinds.flatMap((kind) => [
    wait(`x-ratelimit-remaining-${kind}`, `x-ratelimit-reset-${kind}`),
    wait(`anthropic-ratelimit-${kind}-remaining`, `anthropic-ratelimit-${kind}-reset`),
  ]);
  const longest = Math.max(...waits);
  return longest > 0 ? Math.min(longest, maxRateLimitWaitMs) : undefined;
}

function waitOf(remaining: AnswerHeaders[string], reset: AnswerHeaders[string], nowMs: number): number {
  if (typeof remaining !== "string" || typeof reset !== "string") return 0;
  if (remaining.trim() === "" || Number(remaining) > 0) return 0;
  const ms = durationMs(reset.trim()) ?? Date.parse(reset) - nowMs;
  return Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : 0;
}

/** Parses `1s`, `6m0s`, `20ms`, or bare seconds. */
function durationMs(text: string): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    ms += Number(amount) * (units[unit ?? ""] ?? 0);
  return ms;
}
