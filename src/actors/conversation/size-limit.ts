import { InvalidInputError } from "../../base/errors.js";
import { isDeeperThan, maxLineDepth } from "../../rollouts/file/line-object.js";

/**
 * Maximum JSON bytes of one submission. A reader takes a longer line for damage, so a larger submission could be saved
 * but never read again.
 */
export const maxSubmissionBytes = 48 * 1024 * 1024;
/** Maximum depth of a submission, which is nested some levels deep in its line. */
const maxSubmissionDepth = maxLineDepth - 10;

/** Returns a JSON copy; throws for values that JSON cannot represent and for values too large to be read back. */
export function jsonCopy<T extends object>(value: T, what: string): T {
  const text = jsonText(value, what);
  if (Buffer.byteLength(text) > maxSubmissionBytes) {
    throw new InvalidInputError(`${what}: larger than ${maxSubmissionBytes} bytes; send it in smaller pieces`);
  }
  const copy = JSON.parse(text) as T;
  if (isDeeperThan(copy, maxSubmissionDepth)) throw new InvalidInputError(`${what}: nested too deeply`);
  return copy;
}

function jsonText(value: unknown, what: string): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw new InvalidInputError(`${what}: cannot be converted to JSON`);
  }
}
