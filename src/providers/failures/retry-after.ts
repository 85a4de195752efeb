const maxMs = 5 * 60_000;

/** How long `retry-after` asks to wait: it has seconds or a date, and an absurd wish is cut. */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  if (header === null || header === undefined || header.trim() === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(Math.ceil(ms), 0), maxMs);
}
