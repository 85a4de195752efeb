import { usageError } from "../command-error.js";

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
