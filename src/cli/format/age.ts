import { counted } from "../../base/text/counted.js";
import { usageError } from "../command-error.js";

const hourMs = 60 * 60 * 1000;
const unitMs: Readonly<Record<string, number>> = { h: hourMs, d: 24 * hourMs, w: 7 * 24 * hourMs };

/** Parses an age such as 12h, 7d or 2w. Zero is rejected, because it would match everything. */
export function parseAge(flag: string, text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  const age = Number(number) * (unitMs[unit] ?? 0);
  if (age > 0) return age;
  const allowed = "a whole number from 1 to 99999 followed by h, d or w";
  throw usageError(`${flag}: expected an age like 12h, 7d or 2w, not '${text}': ${allowed}`);
}

/** An age for people, in hours or days. */
export function ageText(milliseconds: number): string {
  const hours = Math.floor(milliseconds / hourMs);
  return hours < 48 ? counted(hours, "hour") : counted(Math.floor(hours / 24), "day");
}

export { counted };
