import { isRecord } from "../base/is-record.js";
import { type JsonObject, objectOf } from "./json.js";
import type { Path } from "./problem.js";

export interface SubSchema {
  readonly schema: JsonObject;
  readonly path: Path;
}

/** Yields a JSON Schema and every schema inside it. */
export function* subSchemas(schema: unknown, path: Path = []): Generator<SubSchema> {
  if (!isRecord(schema)) return;
  yield { schema, path };
  for (const key of ["properties", "$defs", "definitions"]) {
    for (const [name, inner] of Object.entries(objectOf(schema[key]))) yield* subSchemas(inner, [...path, key, name]);
  }
  yield* subSchemas(schema["items"], [...path, "items"]);
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const list = schema[key];
    if (!Array.isArray(list)) continue;
    for (const [index, inner] of list.entries()) yield* subSchemas(inner, [...path, key, index]);
  }
}
