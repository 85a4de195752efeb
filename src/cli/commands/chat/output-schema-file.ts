import { readFile } from "node:fs/promises";
import { InvalidInputError } from "../../../messages/errors.js";
import { OutputSchema } from "../../../messages/output-schema.js";
import { check, jsonValue } from "../../../messages/parse.js";
import { type AnswerCheck, answerCheck } from "./answer-check.js";
import { usageError } from "../../command-error.js";
import { systemReason } from "../../../base/system-error.js";

export interface SchemaInFile {
  readonly schema: OutputSchema;
  readonly problemsOf: AnswerCheck;
}

/** The schema in a file; what is wrong with it is said with its place. */
export async function outputSchemaIn(file: string): Promise<SchemaInFile> {
  const what = `--output-schema ${file}`;
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw usageError(`${what}: cannot be read: ${systemReason(error)}`);
  });
  const schema = schemaIn(text, what);
  const problemsOf = await answerCheck(schema).catch((error: Error) => {
    throw usageError(`${what}: no answer can be checked against it: ${error.message}`);
  });
  return { schema, problemsOf };
}

function schemaIn(text: string, what: string): OutputSchema {
  try {
    return check(OutputSchema, jsonValue(text, what), what);
  } catch (error) {
    if (error instanceof InvalidInputError) throw usageError(error.message);
    throw error;
  }
}
