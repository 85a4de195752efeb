import { counted } from "../base/text/counted.js";
import { usageError } from "./command-error.js";

const tabCells = 8;

const signCells = 2;

const units = ["bytes", "kB", "MB", "GB", "TB"];

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

/** A size for people: 950 bytes, 1.2 kB, 14 MB. */
export function byteText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 9.95 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
  return `${digits} ${unit === 0 && bytes === 1 ? "byte" : units[unit]}`;
}

/** Parses a whole number from 1 to 999999999; undefined for anything else. */
export function wholeNumber(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** The number given to a flag; undefined if the flag is absent. Throws for any other text. */
export function numberFlag(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = wholeNumber(text);
  if (number === undefined) throw usageError(`${flag}: expected a whole number from 1 to 999999999, not '${text}'`);
  return number;
}

/** The positive number given to a flag, such as 2.50. Throws for any other text. */
export function amountFlag(flag: string, text: string): number {
  const amount = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : 0;
  if (amount > 0) return amount;
  throw usageError(`${flag}: expected a positive number such as 2.50, not '${text}'`);
}

/** A number of tokens for people: 950, 1.2k, 142k, 1.2M. */
export function tokenText(tokens: number): string {
  if (tokens < 1_000) return `${tokens}`;
  // A number that would be rounded to 1000k is shown as 1M.
  return tokens < 999_500 ? `${short(tokens / 1_000)}k` : `${short(tokens / 1_000_000)}M`;
}

function short(number: number): string {
  return number < 9.95 ? number.toFixed(1).replace(/\.0$/, "") : number.toFixed(0);
}

export function compactedText(before: number, after: number): string {
  return `Context compacted: ${tokenText(before)} → ${tokenText(after)} tokens`;
}

/** A time in the local time zone. Formatted by hand, because the first use of Intl takes as long as a short command. */
export function localTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  return `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}`;
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : `${number}`;
}

/** The most cells a UTF-16 unit may take: terminals disagree about the width of characters outside ASCII. */
export function cellsOf(code: number): number {
  if (code >= 0x20 && code < 0x7f) return 1;
  if (code === 0x09) return tabCells;
  const isSecondOfPair = code >= 0xdc00 && code < 0xe000;
  return isSecondOfPair ? 0 : 2;
}

/** Cuts a text to at most `maxCells` cells and appends `…`. Never splits a surrogate pair. */
export function fitted(text: string, maxCells: number): string {
  let cells = 0;
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    cells += cellsOf(text.charCodeAt(at));
    if (cells > maxCells) return maxCells < signCells ? "" : `${text.slice(0, end)}…`;
    if (cells <= maxCells - signCells) end = at + 1;
  }
  return text;
}

/** The rows of a table as lines with aligned columns. */
export function columnLines(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
