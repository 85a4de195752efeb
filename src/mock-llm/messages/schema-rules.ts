import { invalidMessages } from "./errors.js";
import { type JsonObject, objectOf, objectsOf } from "../json.js";
import { subSchemas } from "../sub-schemas.js";
import type { Refusal } from "../wire-api.js";

const unsupported = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
  "uniqueItems",
  "oneOf",
  "not",
  "if",
  "patternProperties",
];

const notAtTheTop = ["oneOf", "allOf", "anyOf"];
const argumentName = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Why the Messages API refuses what a tool is said to take; one such tool spoils the whole request. */
export function toolSchemaRefusal(body: JsonObject): Refusal | undefined {
  for (const [index, tool] of objectsOf(body["tools"]).entries()) {
    const schema = objectOf(tool["input_schema"]);
    const place = `tools.${index}.custom.input_schema`;
    if (notAtTheTop.some((key) => schema[key] !== undefined)) {
      return invalidMessages(`${place}: input_schema does not support oneOf, allOf, or anyOf at the top level`);
    }
    if (!Object.keys(objectOf(schema["properties"])).every((key) => argumentName.test(key))) {
      const rule = `Property keys should match pattern '${argumentName.source}'`;
      return invalidMessages(`${place}.properties: ${rule}`);
    }
  }
  return undefined;
}

/** Why the Messages API refuses a schema an answer is to be held to. */
export function schemaRefusal(root: unknown): Refusal | undefined {
  for (const { schema, path } of subSchemas(root)) {
    const problem = problemOf(schema);
    if (problem !== undefined) return invalidMessages(["output_config.format.schema", ...path].join(".") + problem);
  }
  return undefined;
}

function problemOf(schema: JsonObject): string | undefined {
  const { type, minItems } = schema;
  if (type === "object" && schema["additionalProperties"] !== false) {
    return ": For 'object' type, 'additionalProperties' must be explicitly set to false";
  }
  const no = unsupported.find((key) => schema[key] !== undefined);
  if (no !== undefined) return `: For '${String(type)}' type, property '${no}' is not supported`;
  if (typeof minItems !== "number" || minItems <= 1) return undefined;
  return ": For 'array' type, 'minItems' values other than 0 or 1 are not supported";
}
