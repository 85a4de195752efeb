import { isRecord } from "../../base/is-record.js";
import { FailureError } from "../../messages/failure-error.js";

/** Character codes of JSON syntax. The code of a closing bracket or brace is its opening one plus 2. */
export const quote = 34;

export const comma = 44;

export const colon = 58;

export const bracket = 91;

const backslash = 92;

export const brace = 123;

/** Events of the wire APIs are about ten levels deep: tool arguments travel as text. */
const maxDepth = 100;
/** A shorter text cannot be dangerously deep. */
const maxUncheckedChars = 4_096;

/**
 * Parses the object in an event. Rejects anything else, and content made to cause harm. `maxParts` limits brackets and
 * commas.
 */
export function eventJson(data: string, maxParts = Infinity): Record<string, unknown> {
  if (data.includes('"__proto__"') && /"__proto__"\s*:/.test(data)) throw refused("contains the key __proto__");
  if (data.length > maxUncheckedChars) {
    const { depth, parts } = shapeOf(data);
    if (depth > maxDepth) throw refused(`is nested more than ${maxDepth} levels deep`);
    if (parts > maxParts) throw refused(`has more than ${maxParts} parts`);
  }
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw refused("is not JSON");
  }
  if (!isRecord(value)) throw refused("is not an object");
  return value;
}

function refused(why: string): FailureError {
  return new FailureError({ code: "bad_message", message: `an event of the answer ${why}`, retryable: true });
}

function shapeOf(json: string): { depth: number; parts: number } {
  let depth = 0;
  let deepest = 0;
  let parts = 0;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === quote) index = endOfString(json, index);
    else if (code === comma) parts += 1;
    else if (code === bracket + 2 || code === brace + 2) depth -= 1;
    else if (code === bracket || code === brace) {
      parts += 1;
      deepest = Math.max(deepest, ++depth);
    }
  }
  return { depth: deepest, parts };
}

/** The offset of the quote that ends the string starting at `start`. An unclosed string ends with the text. */
export function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end === -1 ? json.length : end;
}

function isEscaped(json: string, index: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(index - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

/** The offset where the value starting at `start` ends. */
export function endOfValue(json: string, start: number): number {
  let depth = 0;
  for (let index = start; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === quote) index = endOfString(json, index);
    else if (code === bracket || code === brace) depth += 1;
    else if (code === bracket + 2 || code === brace + 2) depth -= 1;
    else if (code === comma && depth === 0) return index;
    if (depth < 0) return index;
  }
  return json.length;
}
