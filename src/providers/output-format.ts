import type { OutputSchema } from "../messages/output-schema.js";

const name = "cody_output_schema";

/** The output schema in the form of OpenAI's APIs; Chat Completions wraps it once more. */
export function outputFormat(schema: OutputSchema) {
  return { name, schema, strict: true };
}
