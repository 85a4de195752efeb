import type * as z from "zod";
import { InvalidInputError } from "./errors.js";
import { isRecord } from "./is-record.js";
import { issueWords } from "./issue-words.js";

/**
 * Checks a value and returns the same object, not a copy: keys that the schema does not know stay, so that data written
 * by a newer version is preserved.
 */
export function check<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const result = schema.safeParse(value, { error: issueWords });
  if (!result.success) throw new InvalidInputError(`${what}: ${issueText(result.error)}`);
  return value as z.infer<S>;
}

/** Checks a value and returns the schema's copy: with defaults, and without unknown keys. */
export function parsed<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const result = schema.safeParse(value, { error: issueWords });
  if (!result.success) throw new InvalidInputError(`${what}: ${issueText(result.error)}`);
  return result.data;
}

/** V8's own message quotes the text, which may contain a secret, so only the position is reported. */
export function jsonValue(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1];
    throw new InvalidInputError(`${what}: invalid JSON${position === undefined ? "" : ` at position ${position}`}`);
  }
}

/** For text written by others, above all a model, that may not be JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a text is a JSON object. */
export function isJsonObject(text: string): boolean {
  return isRecord(jsonOrUndefined(text));
}

/** The path of the first problem and the expected value; never shows the actual value. */
function issueText(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return "invalid";
  const path = issue.path.map(String).join(".");
  const text = issue.message.slice(0, 200);
  return path === "" ? text : `${path}: ${text}`;
}
