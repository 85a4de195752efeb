import { readFile } from "node:fs/promises";
import { InvalidInputError } from "../messages/errors.js";
import { OutputSchema } from "../messages/output-schema.js";
import { check, jsonValue } from "../messages/parse.js";
import { usageError } from "./command-error.js";

/** The schema in a file; what is wrong with it is said with its place. */
export async function outputSchemaIn(file: string): Promise<OutputSchema> {
  const what = `--output-schema ${file}`;
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw usageError(`${what}: cannot be read (${error.code})`);
  });
  try {
    return check(OutputSchema, jsonValue(text, what), what);
  } catch (error) {
    if (error instanceof InvalidInputError) throw usageError(error.message);
    throw error;
  }
}
