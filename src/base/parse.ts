import type * as z from "zod";
import { InvalidInputError } from "./errors.js";
import { issueWords } from "./issue-words.js";

/**
 * Checks a value and gives back that very value, not a copy: keys a schema does not know stay, so what was read
 * from a newer version is kept whole.
 */
export function check<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const result = schema.safeParse(value, { error: issueWords });
  if (!result.success) throw new InvalidInputError(`${what}: ${issueText(result.error)}`);
  return value as z.infer<S>;
}

/** What a schema makes of a value: with its defaults, and without what it does not know. */
export function parsed<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const result = schema.safeParse(value, { error: issueWords });
  if (!result.success) throw new InvalidInputError(`${what}: ${issueText(result.error)}`);
  return result.data;
}

/** V8's own message quotes the text, which may hold a secret: only the position is passed on. */
export function jsonValue(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1];
    throw new InvalidInputError(`${what}: invalid JSON${position === undefined ? "" : ` at position ${position}`}`);
  }
}

/** For what somebody else wrote, a model above all, and may be no JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The first problem, as a path and what was expected there; values are never shown. */
function issueText(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return "invalid";
  const path = issue.path.map(String).join(".");
  const text = issue.message.slice(0, 200);
  return path === "" ? text : `${path}: ${text}`;
}
