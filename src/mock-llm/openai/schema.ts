import { isRecord } from "../../base/is-record.js";
import { isGiven, type JsonObject, objectOf } from "../json.js";
import { badRequest } from "./errors.js";
import { type Path, subSchemas } from "../problem.js";
import type { Refusal } from "../wire-api.js";

const notPermitted = ["oneOf", "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"];
const notAtTopLevel = ["oneOf", "anyOf", "allOf", "enum", "not"];
const typeKeywords = ["type", "anyOf", "enum", "const", "$ref"];

/** Rejects an output schema that OpenAI's APIs do not support; `param` is its place in the request. */
export function schemaRefusal(format: JsonObject, param: string): Refusal | undefined {
  if (format["strict"] !== true) return undefined;
  const problem = strictProblem(format["schema"]);
  if (problem === undefined) return undefined;
  const text = `Invalid schema for response_format '${String(format["name"])}': ${problem}`;
  return badRequest(text, param, "invalid_json_schema");
}

/** Rejects a function schema that OpenAI's APIs do not support; one such function invalidates the whole request. */
export function functionRefusal({ name, parameters, strict }: JsonObject, param: string): Refusal | undefined {
  if (!isGiven(parameters)) return undefined;
  const problem = looseProblem(objectOf(parameters)) ?? (strict === true ? strictProblem(parameters) : undefined);
  if (problem === undefined) return undefined;
  return badRequest(`Invalid schema for function '${String(name)}': ${problem}`, param, "invalid_function_parameters");
}

/** Problems that are rejected even without strict mode. */
function looseProblem(root: JsonObject): string | undefined {
  if (root["type"] !== "object") return notAnObject(root);
  if (notAtTopLevel.some((key) => root[key] !== undefined)) {
    return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
  }
  if (root["properties"] === undefined) return "In context=(), object schema missing properties.";
  for (const { schema, path } of subSchemas(root)) {
    if (lacksItems(schema)) return `In context=${contextOf(path)}, array schema missing items.`;
  }
  return undefined;
}

function notAnObject({ type = null }: JsonObject): string {
  return `schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(type)}'.`;
}

function lacksItems({ type, items }: JsonObject): boolean {
  return (type === "array" || (Array.isArray(type) && type.includes("array"))) && !isRecord(items);
}

function strictProblem(root: unknown): string | undefined {
  if (objectOf(root)["type"] !== "object") return notAnObject(objectOf(root));
  for (const { schema, path } of subSchemas(root)) {
    const problem = problemOf(schema);
    if (problem !== undefined) return `In context=${contextOf(path)}, ${problem}`;
  }
  return undefined;
}

function problemOf(schema: JsonObject): string | undefined {
  const no = notPermitted.find((key) => schema[key] !== undefined);
  if (no !== undefined) return `'${no}' is not permitted.`;
  if (!typeKeywords.some((key) => schema[key] !== undefined)) return "schema must have a 'type' key.";
  const { type, properties } = schema;
  if (lacksItems(schema)) return "array schema missing items.";
  if (type !== "object") return undefined;
  if (schema["additionalProperties"] !== false) {
    return "'additionalProperties' is required to be supplied and to be false.";
  }
  const required: unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const left = Object.keys(objectOf(properties)).find((name) => !required.includes(name));
  if (left === undefined) return undefined;
  return `'required' is required to be supplied and to be an array including every key in properties. Missing '${left}'.`;
}

/** Formats a path like a Python tuple. */
function contextOf(path: Path): string {
  const parts = path.map((key) => `'${key}'`);
  return parts.length === 1 ? `(${parts[0]},)` : `(${parts.join(", ")})`;
}
