import { InvalidInputError } from "../../base/errors.js";
import { isDeeperThan, maxLineDepth } from "../../rollouts/file/line-object.js";

/**
 * The most bytes of JSON one submission may become. A reader takes a longer line for damage, so what is not refused
 * here could be saved and never be read again.
 */
export const maxSubmissionBytes = 48 * 1024 * 1024;
/** The same for how deep it is: it stands some levels deep in its line. */
const maxSubmissionDepth = maxLineDepth - 10;

/** A copy made of JSON alone; throws for what JSON cannot hold and for what is too large to be read back. */
export function jsonCopy<T extends object>(value: T, what: string): T {
  const text = jsonText(value, what);
  if (Buffer.byteLength(text) > maxSubmissionBytes) {
    throw new InvalidInputError(`${what}: more than ${maxSubmissionBytes} bytes; say it in smaller pieces`);
  }
  const copy = JSON.parse(text) as T;
  if (isDeeperThan(copy, maxSubmissionDepth)) throw new InvalidInputError(`${what}: nested too deep`);
  return copy;
}

function jsonText(value: unknown, what: string): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw new InvalidInputError(`${what}: cannot be written as JSON`);
  }
}
