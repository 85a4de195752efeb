import { isRecord } from "../messages/is-record.js";
import { type JsonObject, objectOf } from "./json.js";
import { badRequest } from "./openai-errors.js";
import type { Path } from "./problem.js";
import { subSchemas } from "./sub-schemas.js";
import type { Refusal } from "./wire-api.js";

const notPermitted = ["oneOf", "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"];
const saysWhat = ["type", "anyOf", "enum", "const", "$ref"];

/** Why OpenAI's APIs refuse a schema an answer is to be held to; `param` is where it stands. */
export function schemaRefusal(format: JsonObject, param: string): Refusal | undefined {
  if (format["strict"] !== true) return undefined;
  const problem = strictProblem(format["schema"]);
  if (problem === undefined) return undefined;
  const text = `Invalid schema for response_format '${String(format["name"])}': ${problem}`;
  return badRequest(text, param, "invalid_json_schema");
}

function strictProblem(root: unknown): string | undefined {
  if (objectOf(root)["type"] !== "object") return `schema must be a JSON Schema of 'type: "object"'.`;
  for (const { schema, path } of subSchemas(root)) {
    const problem = problemOf(schema);
    if (problem !== undefined) return `In context=${contextOf(path)}, ${problem}`;
  }
  return undefined;
}

function problemOf(schema: JsonObject): string | undefined {
  const no = notPermitted.find((key) => schema[key] !== undefined);
  if (no !== undefined) return `'${no}' is not permitted.`;
  if (!saysWhat.some((key) => schema[key] !== undefined)) return "schema must have a 'type' key.";
  const { type, properties } = schema;
  if (type === "array" && !isRecord(schema["items"])) return "array schema missing items.";
  if (type !== "object") return undefined;
  if (schema["additionalProperties"] !== false) {
    return "'additionalProperties' is required to be supplied and to be false.";
  }
  const required: unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const left = Object.keys(objectOf(properties)).find((name) => !required.includes(name));
  if (left === undefined) return undefined;
  return `'required' is required to be supplied and to be an array including every key in properties. Missing '${left}'.`;
}

/** As Python writes a tuple. */
function contextOf(path: Path): string {
  const parts = path.map((key) => `'${key}'`);
  return parts.length === 1 ? `(${parts[0]},)` : `(${parts.join(", ")})`;
}
