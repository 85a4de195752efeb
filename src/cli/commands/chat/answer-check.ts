import type { ErrorObject } from "ajv/dist/2020.js";
import type { OutputSchema } from "../../../messages/output-schema.js";
import { shortened } from "../../../base/text/truncate.js";
import { visible } from "../../../base/text/visible.js";

/** Returns the problems of an answer, each with its path; empty if it matches the schema. */
export type AnswerCheck = (answer: string | null) => readonly string[];

const maxProblems = 10;
const maxProblemChars = 300;

/** Throws with the reason if answers cannot be checked against the schema. */
export async function answerCheck(schema: OutputSchema): Promise<AnswerCheck> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false });
  // The keywords allowed in an output schema mean the same in every draft.
  const { $schema: _draft, ...rules } = schema;
  const fits = ajv.compile(rules);
  return (answer) => {
    if (answer === null) return ["there is no answer"];
    const value = parsed(answer);
    if (value === undefined) return ["it is not JSON"];
    if (fits(value.json)) return [];
    return bounded((fits.errors ?? []).map(problemText));
  };
}

function parsed(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function problemText(error: ErrorObject): string {
  const path = error.instancePath.split("/").slice(1).map(unescaped).join(".");
  const text = path === "" ? mismatchText(error) : `${path}: ${mismatchText(error)}`;
  return shortened(visible(shortened(text, maxProblemChars * 2)), maxProblemChars);
}

/** The validator's own messages leave out the names and values a person needs. */
function mismatchText({ keyword, params, message = "does not match" }: ErrorObject): string {
  switch (keyword) {
    case "additionalProperties":
      return `must not have a property ${JSON.stringify(params["additionalProperty"])}`;
    case "required":
      return `must have a property ${JSON.stringify(params["missingProperty"])}`;
    case "enum":
      return `must be one of ${(params["allowedValues"] as unknown[]).map((value) => JSON.stringify(value)).join(", ")}`;
    case "const":
      return `must be ${JSON.stringify(params["allowedValue"])}`;
    default:
      return message;
  }
}

/** Unescapes one step of a JSON Pointer. */
function unescaped(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

function bounded(problems: readonly string[]): readonly string[] {
  const left = problems.length - maxProblems;
  return left > 0 ? [...problems.slice(0, maxProblems), `… and ${left} more`] : problems;
}
