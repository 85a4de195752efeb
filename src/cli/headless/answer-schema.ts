import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ErrorObject } from "ajv/dist/2020.js";
import { InvalidInputError } from "../../base/errors.js";
import { check, jsonValue } from "../../base/parse.js";
import { systemReason } from "../../base/system-error.js";
import { shortened } from "../../base/text/truncate.js";
import { visible } from "../../base/text/visible.js";
import { OutputSchema } from "../../messages/output-schema.js";
import { usageError } from "../command-error.js";
import type { SharedContext } from "../context.js";

const maxProblems = 10;

const maxProblemChars = 300;

/** The schema in the file of --output-schema. Read before anything else, so that no turn starts with an unusable one. */
export async function schemaOf({ flags, terminal }: SharedContext<"outputSchema">): Promise<SchemaInFile | undefined> {
  if (flags.outputSchema === undefined) return undefined;
  return await outputSchemaIn(resolve(terminal.cwd, flags.outputSchema));
}

/** Reports where the answer, which is shown anyway, does not match the schema; returns whether it matches. */
export async function reportSchemaMismatch(
  context: SharedContext<"outputSchema">,
  answer: string | null,
  { problemsOf }: SchemaInFile,
): Promise<boolean> {
  const problems = problemsOf(answer);
  if (problems.length === 0) return true;
  await context.tell(
    [`✗ The answer does not match --output-schema ${context.flags.outputSchema}:`, ...problems].join("\n  "),
  );
  return false;
}

export interface SchemaInFile {
  readonly schema: OutputSchema;
  readonly problemsOf: AnswerCheck;
}

/** Reads the schema; errors name the file and the path inside it. */
async function outputSchemaIn(file: string): Promise<SchemaInFile> {
  const what = `--output-schema ${file}`;
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw usageError(`${what}: cannot read the file: ${systemReason(error)}`);
  });
  return await schemaIn(text, what);
}

/** The schema in a text; `what` names the text in errors. */
export async function schemaIn(text: string, what: string): Promise<SchemaInFile> {
  const schema = parsedSchema(text, what);
  const problemsOf = await answerCheck(schema).catch((error: Error) => {
    throw usageError(`${what}: invalid schema: ${error.message}`);
  });
  return { schema, problemsOf };
}

function parsedSchema(text: string, what: string): OutputSchema {
  try {
    return check(OutputSchema, jsonValue(text, what), what);
  } catch (error) {
    if (error instanceof InvalidInputError) throw usageError(error.message);
    throw error;
  }
}

/** Returns the problems of an answer, each with its path; empty if it matches the schema. */
type AnswerCheck = (answer: string | null) => readonly string[];

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
