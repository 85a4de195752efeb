import { isRecord } from "../../base/is-record.js";
import type { OutputSchema } from "../../messages/output-schema.js";
import { recordAt } from "../json-fields.js";

/** A schema may contain itself. */
const maxDepth = 20;

/** A value that fits a schema, with a text wherever one may stand. */
export function fittingValue(schema: OutputSchema, text: string): unknown {
  return valueOf(schema, text, recordAt(schema, "$defs"), 0);
}

function valueOf(schema: unknown, text: string, defs: Readonly<Record<string, unknown>>, depth: number): unknown {
  if (!isRecord(schema) || depth > maxDepth) return null;
  const { $ref: ref, enum: values, anyOf, type } = schema;
  if (typeof ref === "string") return valueOf(defs[ref.slice("#/$defs/".length)], text, defs, depth + 1);
  if ("const" in schema) return schema["const"];
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return valueOf(anyOf[0], text, defs, depth + 1);
  switch (Array.isArray(type) ? type[0] : type) {
    case "object": {
      const properties = Object.entries(recordAt(schema, "properties"));
      return Object.fromEntries(properties.map(([name, inner]) => [name, valueOf(inner, text, defs, depth + 1)]));
    }
    case "array":
      return Number(schema["minItems"] ?? 0) > 0 ? [valueOf(schema["items"], text, defs, depth + 1)] : [];
    case "string":
      return text;
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return 0;
  }
}
