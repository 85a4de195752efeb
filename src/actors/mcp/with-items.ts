import { isRecord } from "../../base/is-record.js";

const schemasByName: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions"]);
const schemaLists: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const schemas: ReadonlySet<string> = new Set(["items", "additionalProperties", "not"]);

/** The same schema where every array says what is in it, be it anything: OpenAI takes no tool with one that does not. */
export function withItems(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const told = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, partOf(key, value)]));
  const { type } = schema;
  const isArray = type === "array" || (Array.isArray(type) && type.includes("array"));
  return isArray && !isRecord(schema["items"]) ? { ...told, items: {} } : told;
}

function partOf(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return schemaLists.has(key) ? value.map(inner) : value;
  if (!isRecord(value)) return value;
  if (!schemasByName.has(key)) return schemas.has(key) ? withItems(value) : value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inner(part)]));
}

function inner(value: unknown): unknown {
  return isRecord(value) ? withItems(value) : value;
}
