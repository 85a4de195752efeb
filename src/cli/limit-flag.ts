import { usageError } from "./command-error.js";

/** How many are wanted, as `--limit` says. */
export function limitOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usageError(`--limit: expected a whole number from 1 on, not '${text}'`);
  return Number(text);
}
