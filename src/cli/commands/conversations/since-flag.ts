import { usageError } from "../../command-error.js";

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Since when, as `--since` says: a time ago, a day as the clock on the wall has it, or a time. Milliseconds since 1970. */
export function sinceOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ago = /^(\d{1,6})([mhdw])$/.exec(text);
  if (ago !== null) return now - Number(ago[1]) * unitMs[ago[2] as keyof typeof unitMs];
  const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  const time = day === null ? timeIn(text) : midnight(Number(day[1]), Number(day[2]), Number(day[3]));
  if (Number.isNaN(time)) throw usageError(`--since: expected something like 7d, 12h or 2026-11-01, not '${text}'`);
  return time;
}

function timeIn(text: string): number {
  return /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
}

/** Not a number for a day the calendar does not have. */
function midnight(year: number, month: number, day: number): number {
  const date = new Date(year, month - 1, day);
  return date.getMonth() === month - 1 && date.getDate() === day ? date.getTime() : Number.NaN;
}
