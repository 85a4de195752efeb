import type { OutputSchema } from "../messages/output-schema.js";

const name = "cody_output_schema";

/** How OpenAI's APIs are told what an answer has to fit; Chat wraps it once more. */
export function outputFormat(schema: OutputSchema) {
  return { name, schema, strict: true };
}
