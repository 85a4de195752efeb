const maxMs = 5 * 60_000;
/** As OpenAI and those like it, and Anthropic, call what is left and when there is more. */
const kinds = ["requests", "tokens", "input-tokens", "output-tokens"];
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** How long a server wants to be left alone because nothing is left of what it allows; undefined while something is. */
export function restMs(headers: Headers, nowMs: number): number | undefined {
  const waits = kinds.flatMap((kind) => [
    waitOf(headers.get(`x-ratelimit-remaining-${kind}`), headers.get(`x-ratelimit-reset-${kind}`), nowMs),
    waitOf(
      headers.get(`anthropic-ratelimit-${kind}-remaining`),
      headers.get(`anthropic-ratelimit-${kind}-reset`),
      nowMs,
    ),
  ]);
  const longest = Math.max(...waits.map((wait) => wait ?? 0));
  return longest > 0 ? Math.min(longest, maxMs) : undefined;
}

function waitOf(remaining: string | null, reset: string | null, nowMs: number): number | undefined {
  if (remaining === null || reset === null || remaining.trim() === "" || Number(remaining) > 0) return undefined;
  const ms = durationMs(reset.trim()) ?? Date.parse(reset) - nowMs;
  return Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : undefined;
}

/** `1s`, `6m0s`, `20ms`, or bare seconds. */
function durationMs(text: string): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    ms += Number(amount) * (units[unit ?? ""] ?? 0);
  return ms;
}
