import type Anthropic from "@anthropic-ai/sdk";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import type { OutputSchema } from "../../messages/output-schema.js";

/** What the API cannot enforce, as bounds of numbers, the SDK tells the model in the description instead. */
export function anthropicFormat(schema: OutputSchema): Anthropic.JSONOutputFormat {
  return { type: "json_schema", schema: { ...transformJSONSchema(schema) } };
}
