import * as z from "zod";
import { isRecord } from "../base/is-record.js";

/** Deeper than any API accepts; also stops at schemas that contain themselves. */
const maxDepth = 20;

const types = ["string", "number", "integer", "boolean", "null", "object", "array"];

const typeKeys = ["type", "anyOf", "enum", "const", "$ref"];

/** Keywords that no model can be held to, with the alternative to suggest. */
const refused: Readonly<Record<string, string>> = {
  oneOf: "say anyOf",
  allOf: "merge its parts into one schema",
  not: "describe the allowed values instead",
  if: "say anyOf",
  patternProperties: "name the properties",
  dependentRequired: "say anyOf",
  dependentSchemas: "say anyOf",
  definitions: "say $defs",
};

/** Bounded because the schema is sent with every request of its turn. */
export const maxSchemaChars = 100_000;

/** A JSON Schema for the last answer of a turn, limited to what all three wire APIs can enforce. */
export const OutputSchema = z
  .record(z.string(), z.unknown(), "expected a JSON Schema object")
  .superRefine((schema, context) => {
    const problem = schemaProblem(schema) ?? sizeProblem(schema);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem.text, path: [...problem.path] });
  });
export type OutputSchema = z.infer<typeof OutputSchema>;

function sizeProblem(schema: Readonly<Record<string, unknown>>): ReturnType<typeof schemaProblem> {
  try {
    if (JSON.stringify(schema).length <= maxSchemaChars) return undefined;
  } catch {
    return { path: [], text: "cannot be converted to JSON" };
  }
  return { path: [], text: `a schema can have at most ${maxSchemaChars} characters` };
}

type Path = readonly (string | number)[];

type Schema = Readonly<Record<string, unknown>>;

interface SchemaProblem {
  readonly path: Path;
  readonly text: string;
}

/** The first part of a schema that not all three wire APIs can enforce. */
function schemaProblem(root: Schema): SchemaProblem | undefined {
  if (root["type"] !== "object") return { path: ["type"], text: 'the schema of an answer must be of type "object"' };
  return problemAt(root, [], isRecord(root["$defs"]) ? root["$defs"] : {});
}

function problemAt(schema: unknown, path: Path, defs: Schema): SchemaProblem | undefined {
  if (path.length > maxDepth * 2) return { path: [], text: `nested more than ${maxDepth} levels deep` };
  if (!isRecord(schema)) return { path, text: "expected a schema object" };
  const no = Object.keys(refused).find((key) => Object.hasOwn(schema, key));
  if (no !== undefined) return { path: [...path, no], text: `not supported by models; ${refused[no]}` };
  if (!typeKeys.some((key) => Object.hasOwn(schema, key))) return { path, text: "missing type" };
  return (
    refProblem(schema, path, defs) ??
    typeProblem(schema, path) ??
    enumProblem(schema, path) ??
    objectProblem(schema, path) ??
    partsProblem(schema, path, defs)
  );
}

function refProblem({ $ref: ref }: Schema, path: Path, defs: Schema): SchemaProblem | undefined {
  if (ref === undefined) return undefined;
  const name = typeof ref === "string" ? /^#\/\$defs\/([^/]+)$/.exec(ref)?.[1] : undefined;
  if (name !== undefined && Object.hasOwn(defs, name)) return undefined;
  return { path: [...path, "$ref"], text: "expected #/$defs/… with the name of an existing schema" };
}

function typeProblem({ type }: Schema, path: Path): SchemaProblem | undefined {
  if (type === undefined || types.includes(type as string)) return undefined;
  const at = [...path, "type"];
  if (!Array.isArray(type) || type.length === 0 || !type.every((one) => types.includes(one as string))) {
    return { path: at, text: `expected one of ${types.join(", ")}` };
  }
  const isPlain = !type.includes("object") && !type.includes("array");
  return isPlain ? undefined : { path: at, text: "use anyOf to allow an object, an array or another type" };
}

function enumProblem({ enum: values }: Schema, path: Path): SchemaProblem | undefined {
  if (values === undefined || (Array.isArray(values) && values.length > 0)) return undefined;
  return { path: [...path, "enum"], text: "expected a list of values" };
}

/** APIs can enforce an object only if the schema lists all its properties. */
function objectProblem(schema: Schema, path: Path): SchemaProblem | undefined {
  if (schema["type"] !== "object") return undefined;
  const { properties, required } = schema;
  if (!isRecord(properties)) return { path: [...path, "properties"], text: "expected the properties of the object" };
  if (schema["additionalProperties"] !== false) {
    return { path: [...path, "additionalProperties"], text: "expected false: only named properties are allowed" };
  }
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const left = Object.keys(properties).find((name) => !needed.includes(name));
  if (left !== undefined) {
    return {
      path: [...path, "required"],
      text: `"${left}" is missing: list every property; make optional ones nullable`,
    };
  }
  const unknown = needed.find((name) => typeof name !== "string" || !Object.hasOwn(properties, name));
  return unknown === undefined
    ? undefined
    : { path: [...path, "required"], text: "it lists a name that is not a property" };
}

function partsProblem(schema: Schema, path: Path, defs: Schema): SchemaProblem | undefined {
  const { properties = {}, $defs = {}, items, anyOf } = schema;
  if (schema["type"] === "array" && items === undefined) {
    return { path: [...path, "items"], text: "expected the schema of the array's items" };
  }
  if (anyOf !== undefined && (!Array.isArray(anyOf) || anyOf.length === 0)) {
    return { path: [...path, "anyOf"], text: "expected a list of schemas" };
  }
  const parts: (readonly [Path, unknown])[] = [
    ...entriesAt(properties, [...path, "properties"]),
    ...entriesAt($defs, [...path, "$defs"]),
    ...(items === undefined ? [] : [[[...path, "items"], items] as const]),
    ...((anyOf as unknown[] | undefined) ?? []).map((part, index) => [[...path, "anyOf", index], part] as const),
  ];
  for (const [at, part] of parts) {
    const problem = problemAt(part, at, defs);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function entriesAt(schemas: unknown, path: Path): (readonly [Path, unknown])[] {
  if (!isRecord(schemas)) return [[path, schemas]];
  return Object.entries(schemas).map(([name, schema]) => [[...path, name], schema] as const);
}
