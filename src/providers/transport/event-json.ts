import { isRecord } from "../../base/is-record.js";
import { brace, bracket, comma, endOfString, quote } from "./json-text.js";
import { FailureError } from "../../messages/failure-error.js";

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
