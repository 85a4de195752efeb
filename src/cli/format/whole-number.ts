import { usageError } from "../command-error.js";

/** A whole number from 1 on; undefined for anything else, and for more than anybody can mean. */
export function wholeNumber(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** The number a flag was given, if it was given. */
export function numberFlag(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = wholeNumber(text);
  if (number === undefined) throw usageError(`${flag}: expected a whole number from 1 to 999999999, not '${text}'`);
  return number;
}
